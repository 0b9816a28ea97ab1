/**
 * Runs the demo's command in a separate process, with all its files below a folder. `withoutService`: no Temporal
 * service is configured, so that the demo starts its own; otherwise it uses the tests' server.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';

export interface DemoOptions {
  readonly withoutService?: boolean;
  /** Where its programs send their spans; none are sent by default. */
  readonly traces?: string;
}

const START_OTEL = fileURLToPath(new URL('../support/start-otel.mjs', import.meta.url));

export async function runDemo(
  args: string[],
  folder: string,
  { withoutService = false, traces }: DemoOptions = {},
): Promise<{ code: number | null; output: string }> {
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, ...env } = process.env;
  const service = withoutService ? {} : { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE };
  const child = spawn(process.execPath, [...PROGRAM_OPTIONS, 'scripts/demo/main.ts', ...args], {
    env: {
      ...env,
      ...service,
      ...(traces === undefined ? {} : exportTo(traces)),
      EVERTHREAD_DEMO_FOLDER: folder,
      EVERTHREAD_TEMPORAL_CLI: process.env.EVERTHREAD_TEST_TEMPORAL_CLI,
    },
  });
  let output = '';
  child.stdout.on('data', (data) => (output += String(data)));
  child.stderr.on('data', (data) => (output += String(data)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

const exportTo = (url: string): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--import=${START_OTEL}`,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
});
