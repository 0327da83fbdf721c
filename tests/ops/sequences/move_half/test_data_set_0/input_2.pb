
BcJC