"""Days and times as templates and the admin write them: in the person's zone, which each time names."""

DATE_FORMAT = SHORT_DATE_FORMAT = "Y-m-d"
MONTH_DAY_FORMAT = "j M"  # a day of these weeks, without a time
SHORT_DATETIME_FORMAT = "Y-m-d H:i T"  # 2026-01-31 12:00 CET
DATETIME_FORMAT = "Y-m-d H:i:s T"
