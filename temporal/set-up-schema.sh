#!/bin/sh
# Creates or updates the two databases of a Temporal server in PostgreSQL. Idempotent: run it before every server start,
# and with a newer admin-tools image before a newer server.
# Takes SQL_HOST, SQL_PORT, SQL_USER and (read by the tool itself, so that it is on no command line) SQL_PASSWORD.
# Needs temporal-sql-tool, which the image temporalio/admin-tools has.
set -eu

set_up() {
  database=$1 schema=$2
  tool() {
    temporal-sql-tool --plugin postgres12 --ep "$SQL_HOST" -p "$SQL_PORT" -u "$SQL_USER" --db "$database" "$@"
  }
  tool create
  tool setup-schema -v 0.0
  tool update-schema --schema-name "postgresql/v12/$schema"
}

set_up temporal temporal
set_up temporal_visibility visibility
