
Bx1J€H