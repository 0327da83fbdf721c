
Bx1JK:P¾»D¼