"""How far judges agree. The packages stats and charts work in a notebook; all else belongs to the Django app."""
