/** `everthread test`: the tests of a project, run by the Node that runs this command, which need not be the one in PATH. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { isatty } from 'node:tty';
import { configuredEnvironment } from '../../secret-environment.ts';
import { command, parameter } from '../command.ts';
import { EXIT } from '../exit.ts';

export const test = command({
  description:
    'Runs the tests of a project with the test runner of Node, as `node --test` does, with the Node that everthread itself runs on. ' +
    'With --json: { ok }, and what the tests print is on standard error.',
  arguments: {
    arguments: parameter<readonly string[]>({
      help: 'files and patterns (default: all tests); behind --, options of `node --test` and then these',
      variadic: true,
    }),
  },
  async run({ arguments: passed, project, json }) {
    const child = spawn(process.execPath, ['--test', ...passed], {
      cwd: project,
      env: configuredEnvironment(),
      stdio: ['inherit', json ? 2 : 'inherit', 'inherit'],
    });
    // This process ends with its tests. In a terminal, Ctrl-C reaches them directly.
    process.on('SIGINT', () => [0, 1, 2].some((stream) => isatty(stream)) || child.kill('SIGINT'));
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    const [code] = (await once(child, 'exit')) as [number | null];
    return { json: { ok: code === 0 }, exit: code ?? EXIT.failed };
  },
});
