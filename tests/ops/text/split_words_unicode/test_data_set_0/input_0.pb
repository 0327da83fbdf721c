2:x	x
xxxxxxxx xx x x x x x x x x　2	a​b᠎cBx0