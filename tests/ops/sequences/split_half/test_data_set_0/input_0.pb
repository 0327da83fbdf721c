
BxJT>ãÂ“ÂeÇäÅGÈFÚ¸¶ÆNDzÅãÇ? GBÈ