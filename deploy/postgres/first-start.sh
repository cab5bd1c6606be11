#!/bin/sh -e
# PostgreSQL's image runs this once, on an empty data folder.
cd /assay-postgres
psql -U "$POSTGRES_USER" -d postgres -v owner_password="$OWNER_PASSWORD" -v password="$PASSWORD" -f roles.sql
psql -U "$POSTGRES_USER" -d postgres -v database=assay -f database.sql
