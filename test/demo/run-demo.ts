/**
 * Runs the demo's command in a separate process, with all its files below a folder. `withoutService`: no Temporal
 * service is configured, so that the demo starts its own; otherwise it uses the tests' server.
 */
import { spawn } from 'node:child_process';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';

export async function runDemo(
  args: string[],
  folder: string,
  { withoutService = false } = {},
): Promise<{ code: number | null; output: string }> {
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, ...env } = process.env;
  const service = withoutService ? {} : { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE };
  const child = spawn(process.execPath, [...PROGRAM_OPTIONS, 'scripts/demo/main.ts', ...args], {
    env: {
      ...env,
      ...service,
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
