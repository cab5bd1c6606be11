"""Days and times in Spanish; each time names its zone, as in English."""

DATE_FORMAT = SHORT_DATE_FORMAT = "d/m/Y"
MONTH_DAY_FORMAT = "j M"
SHORT_DATETIME_FORMAT = "d/m/Y H:i T"
DATETIME_FORMAT = "d/m/Y H:i:s T"
