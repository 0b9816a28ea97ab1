/** `everthread code run`: a program in the sandbox, as `state.runCode` runs it, without server and project. */
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { readConfiguration } from '../../configuration.ts';
import type { CodeExecutionOptions, CodeExecutionResult } from '../../core/author/code-execution.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import {
  argument,
  type CommandDefinition,
  command,
  option,
  parseBytes,
  parseList,
  parseWhole,
} from '../command.ts';
import { EXIT } from '../exit.ts';
import { withInterruption } from '../interruption.ts';

const run = command({
  summary: 'run one ES module and print the value of its export',
  description:
    'Runs one ES module in the sandbox: no network, files, timers or host objects. Prints the value of the chosen ' +
    'export, called when it is a function; console output of the program goes to standard error. With ' +
    '--json: { status, result, error, reports, logs, durationMs, memoryUsedBytes }, in which values that JSON lacks ' +
    'are tagged, such as {"$bigint":"1"} or {"$map":[[key,value]]}.',
  arguments: { file: argument('the program, relative to --project; - reads it from standard input') },
  options: {
    fn: option('<name>', 'the export (default: "default")'),
    args: option('<json>', 'arguments of the export, a JSON array', parseList),
    memory: option('<bytes>', 'limit of memory, such as 67108864 or 64mb', parseBytes),
    timeout: option('<ms>', 'deadline, after which the program is ended (default: none)', parseWhole),
    language: option('<language>', 'default: javascript for .js and .mjs, else typescript', [
      'typescript',
      'javascript',
    ] as const),
  },
  help: `
Examples:
  everthread code run sum.ts --args '[1, 2, 3]'            (calls the default export)
  everthread code run tools.ts --fn parse --args '["a,b"]' (calls the export "parse")
  echo 'export default 6 * 7' | everthread code run -
  everthread code run loop.js --timeout 2000 --json

Exit codes: 0 for the status success, 1 for error, link_error, memory and terminated, 2 for usage or invalid input.`,
  async run({ file, project, fn, args, memory, timeout, language, json = false }) {
    const { source, filename } = await readSource(file, project);
    const result = await execute(source, timeout, {
      language: language ?? (/\.m?js$/i.test(filename) ? 'javascript' : 'typescript'),
      filename,
      execute: { fn, args },
      memoryLimitBytes: memory,
    });
    const { showCodeResult } = await import('../output/code-result.ts');
    return showCodeResult(result, { source, filename, json }) ? EXIT.done : EXIT.failed;
  },
});

export const codeCommands: CommandDefinition = {
  description: 'Programs in the sandbox that tools (state.runCode) and models (run_code) use.',
  commands: { run },
};

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
