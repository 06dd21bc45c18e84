#!/usr/bin/env bash
# Obtains two real receivers of OpenTelemetry for the tests: a small OpenTelemetry Collector (OTLP in, files out) and a
# Prometheus with its OTLP receiver. Builds both from their Go modules, once, and keeps them in a cache folder. The last
# line on stdout is that folder (otelcol, prometheus); progress goes to stderr.
#
#   OTEL_RECEIVER_ASSETS    a folder that holds both binaries already: nothing is built
#   FAIRLEAD_TEST_CACHE     where the binaries are kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly COLLECTOR_VERSION=0.162.0         # with modules of 1.x numbered CONFMAP_PROVIDER_VERSION
readonly CONFMAP_PROVIDER_VERSION=1.68.0
readonly PROMETHEUS_VERSION=0.315.0        # the module's number of Prometheus 3.15
readonly GO_VERSION=1.26.0                 # the least that the modules accept

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { is_program "$1/otelcol" && is_program "$1/prometheus"; }

build_otelcol() {
  local core=go.opentelemetry.io/collector
  write_module otelcol << EOF
require (
	github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter v$COLLECTOR_VERSION
	$core/confmap/provider/fileprovider v$CONFMAP_PROVIDER_VERSION
	$core/otelcol v$COLLECTOR_VERSION
	$core/receiver/otlpreceiver v$COLLECTOR_VERSION
	$core/service v$COLLECTOR_VERSION
)
EOF
  cp "$here/otel-collector/main.go" "$work/module/otelcol/"
  build otelcol "" "" otelcol=fairlead.test/otelcol
}

# Without service discovery, which is most of Prometheus' code, and no part of these tests.
build_prometheus() {
  write_module prometheus <<< "require github.com/prometheus/prometheus v$PROMETHEUS_VERSION"
  build prometheus "" remove_all_sd prometheus=github.com/prometheus/prometheus/cmd/prometheus
}

if [[ -n ${OTEL_RECEIVER_ASSETS:-} ]] && is_complete "$OTEL_RECEIVER_ASSETS"; then finish "$OTEL_RECEIVER_ASSETS"; fi

open_cache "otel-$COLLECTOR_VERSION-$PROMETHEUS_VERSION" "set OTEL_RECEIVER_ASSETS to a folder that holds otelcol and prometheus"
is_program "$assets/otelcol" || build_otelcol
is_program "$assets/prometheus" || build_prometheus
say "done"
finish "$assets"
