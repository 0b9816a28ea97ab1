/** The demo's command: its arguments, its exit code, and its orderly end in every case. */
import { errorMessage } from '../../src/core/value/error.ts';
import { HELP, type Options, parseOptions } from './option.ts';
import { runDemo } from './run-demo.ts';

/** The exit code of a program that Ctrl-C ended. */
const INTERRUPTED = 130;

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interruption.abort());
}

const code = await main(process.argv.slice(2));
// Interrupted code may still be waiting; everything it had started has been ended.
if (interruption.signal.aborted) process.exit(code);
process.exitCode = code;

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options === undefined) return 2;
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  try {
    return (await runDemo(options, interruption.signal)) ? 0 : 1;
  } catch (error) {
    console.log(interruption.signal.aborted ? '\nStopped.' : `\nThe demo failed: ${errorMessage(error)}`);
    return interruption.signal.aborted ? INTERRUPTED : 1;
  }
}

function readOptions(args: readonly string[]): Options | undefined {
  try {
    return parseOptions(args);
  } catch (error) {
    console.error(`${errorMessage(error).split('. ')[0]}. npm run demo -- --help tells what there is.`);
    return undefined;
  }
}
