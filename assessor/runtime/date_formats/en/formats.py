"""Days and times as templates and the admin write them: in the person's zone, of which each time names the offset."""

DATE_FORMAT = SHORT_DATE_FORMAT = "Y-m-d"
MONTH_DAY_FORMAT = "j M"  # a day of these weeks, without a time
SHORT_DATETIME_FORMAT = r"Y-m-d H:i \U\T\CO"  # 2026-01-31 12:00 UTC+0100
DATETIME_FORMAT = r"Y-m-d H:i:s \U\T\CO"
