Bx1J3
Às$¿VÁ¿wos?