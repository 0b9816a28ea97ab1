/** `everthread code run`: a program in the sandbox, as `state.runCode` runs it, without server and project. */
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { readConfiguration } from '../../configuration.ts';
import type { CodeExecutionOptions, CodeExecutionResult } from '../../core/author/code-execution.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import {
  addCommon,
  type Cli,
  type CommonOptions,
  GROUPS,
  parseBytes,
  parseList,
  parseWhole,
  withExitCode,
} from '../command.ts';
import { EXIT } from '../exit.ts';
import { withInterruption } from '../interruption.ts';

interface RunOptions extends CommonOptions {
  readonly fn?: string;
  readonly args?: readonly unknown[];
  /** Bytes. */
  readonly memory?: number;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly language?: 'typescript' | 'javascript';
}

const EXAMPLES = `
Examples:
  everthread code run sum.ts --args '[1, 2, 3]'            (calls the default export)
  everthread code run tools.ts --fn parse --args '["a,b"]' (calls the export "parse")
  echo 'export default 6 * 7' | everthread code run -
  everthread code run loop.js --timeout 2000 --json

Exit codes: 0 for the status success, 1 for error, link_error, memory and terminated, 2 for usage or invalid input.`;

export function addCode(program: Command, cli: Cli): void {
  const code = program
    .command('code')
    .helpGroup(GROUPS.project)
    .summary('run a program in the sandbox: see "everthread code run --help"')
    .description('Programs in the sandbox that tools (state.runCode) and models (run_code) use.');
  addCodeRun(code, cli);
}

function addCodeRun(code: Command, cli: Cli): void {
  const command = code
    .command('run')
    .summary('run one ES module and print the value of its export')
    .description(
      'Runs one ES module in the sandbox: no network, files, timers or host objects. Prints the value of the chosen ' +
        'export, called when it is a function; console output of the program goes to standard error. With ' +
        '--json: { status, result, error, reports, logs, durationMs, memoryUsedBytes }, in which values that JSON lacks ' +
        'are tagged, such as {"$bigint":"1"} or {"$map":[[key,value]]}.',
    )
    .argument('<file>', 'the program, relative to --project; - reads it from standard input')
    .option('--fn <name>', 'the export (default: "default")')
    .option('--args <json>', 'arguments of the export, a JSON array', parseList)
    .option('--memory <bytes>', 'limit of memory, such as 67108864 or 64mb', parseBytes)
    .option('--timeout <ms>', 'deadline, after which the program is ended (default: none)', parseWhole)
    .addOption(
      new Option('--language <language>', 'default: javascript for .js and .mjs, else typescript').choices([
        'typescript',
        'javascript',
      ]),
    )
    .addHelpText('after', EXAMPLES);
  addCommon(command).action(withExitCode(cli, runCode));
}

async function runCode(file: string, options: RunOptions): Promise<number> {
  const { source, filename } = await readSource(file, options.project);
  const { language = /\.m?js$/i.test(filename) ? 'javascript' : 'typescript' } = options;
  const result = await execute(source, options.timeout, {
    language,
    filename,
    execute: { fn: options.fn, args: options.args },
    memoryLimitBytes: options.memory,
  });
  const { showCodeResult } = await import('../output/code-result.ts');
  const shown = showCodeResult(result, { source, filename, json: options.json === true });
  return shown ? EXIT.done : EXIT.failed;
}

async function execute(
  source: string,
  timeoutMs: number | undefined,
  options: CodeExecutionOptions,
): Promise<CodeExecutionResult> {
  const { createSandbox } = await import('../../sandbox/index.ts');
  const sandbox = createSandbox({ size: 1, spare: false, wall: readConfiguration().sandboxWall });
  try {
    return await withInterruption(async ({ signal, begin }) => {
      const run = sandbox.scope().runCode(source, options);
      begin();
      signal.addEventListener('abort', () => run.terminate('Interrupted.'));
      const expire = () => run.terminate(`The deadline of ${timeoutMs} ms has passed (--timeout).`);
      const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
      return run.then((result) => {
        clearTimeout(timer);
        return result;
      });
    }, 'Stopping the program');
  } finally {
    await sandbox.close();
  }
}

async function readSource(file: string, folder: string): Promise<{ source: string; filename: string }> {
  if (file === '-') return { source: await text(process.stdin), filename: '<stdin>' };
  try {
    return { source: readFileSync(resolve(folder, file), 'utf8'), filename: basename(file) };
  } catch (cause) {
    throw new RuntimeError('InvalidConfiguration', `${file} cannot be read: ${errorMessage(cause)}`, {
      cause,
    });
  }
}
