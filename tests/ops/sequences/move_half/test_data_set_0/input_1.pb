
BbJc≈é¡z∏OG