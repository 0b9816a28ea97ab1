/**
 * `everthread dev` and `worker` as processes: what they print, which existing server they use, and what they leave
 * behind.
 */
import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { commandLine, isAlive, processTree, workerBelow } from '../support/process-tree.ts';
import { eventually } from '../support/runtime.ts';
import { type CliProject, cliProject, HELPER, type Running, seen, tailOfNew } from './support.ts';

let project: CliProject;

/** Processes are found in /proc. */
const onLinux = process.platform === 'linux' ? it : it.skip;

/** Shares one project among several consecutive cases of one command. */
function withProject(): void {
  beforeAll(async () => {
    project = await cliProject(HELPER);
  });
  afterAll(() => project.remove());
}

/** Replaces a file as `mv`, `sed -i` and many editors do: another file is renamed to its path. */
function replace(path: string, content: string): void {
  const beside = join(project.folder, 'written-beside');
  writeFileSync(beside, content);
  renameSync(beside, join(project.folder, path));
}

const devFile = () => join(project.folder, '.everthread', 'dev.json');

const SECOND = 'agents/agents/second.ts';
const second = (prompt: string) => ({
  [SECOND]: `import { defineAgent } from 'everthread';\nexport default defineAgent({ name: 'second', sideA: { prompt: '${prompt}' } });\n`,
});

/** Files outside `agents/`: what jiti compiles, and what Node loads itself. */
const elsewhere = (word: string): Readonly<Record<string, string>> => ({
  'shared/words.ts': `export const words = '${word}';\n`,
  'shared/native.mjs': `export { inner } from './inner.mjs';\nexport const native = '${word}';\n`,
  'shared/inner.mjs': `export const inner = '${word}';\n`,
  'shared/common.cjs': `exports.common = '${word}';\n`,
  'shared/data.json': JSON.stringify({ data: word }),
  'packages/acme/package.json': '{ "name": "acme", "type": "module", "exports": "./index.js" }',
  'packages/acme/index.js': `export const acme = '${word}';\n`,
});

const READS_ELSEWHERE = `
import { defineTool } from 'everthread';
import { z } from 'zod';
import { acme } from 'acme';
import { common } from '../../shared/common.cjs';
import { data } from '../../shared/data.json';
import { inner, native } from '../../shared/native.mjs';
import { words } from '../../shared/words';
export default defineTool({
  description: 'Tells the weather.', args: z.object({ city: z.string() }),
  execute: async () => [words, native, inner, common, data, acme].join(' '),
});
`;

const NEVER_LOADED = "console.log('loading begins');\nawait new Promise(() => {});\n";

describe('everthread dev in a project whose files are edited', () => {
  withProject();
  let dev: Running;
  let port: number;
  const reports = () => dev.stdout().split('"event":"problems"').length - 1;

  it('prints all problems of a project before anything starts, and starts when the last is fixed', async () => {
    project.write({
      'agents/agents/helper.ts': 'export default 7;\n',
      'agents/tools/weather.ts': 'export default {;\n',
    });
    [port = 0] = await findFreePorts(1);
    dev = project.start(['dev', '--json', '--inspect', String(port)]);
    await seen(dev, 'Waiting for the problems to be fixed');
    expect(dev.stderr()).toContain('agents/agents/helper.ts');
    expect(dev.stderr()).toContain('agents/tools/weather.ts');
    expect(existsSync(devFile())).toBe(false);
    replace('agents/agents/helper.ts', HELPER['agents/agents/helper.ts'] ?? '');
    await eventually('the tool is still wrong', () => reports() > 1, 110_000);
    replace('agents/tools/weather.ts', HELPER['agents/tools/weather.ts'] ?? '');
    await seen(dev, '"event":"ready"');
    expect(dev.stdout()).toContain('"agents":["helper"]');
  });

  onLinux(
    'opens a debugger of its worker where it is asked to, on this machine, and no other process does',
    async () => {
      expect(dev.stdout()).toContain(`"inspector":"127.0.0.1:${port}"`);
      const targets = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
      expect(targets).toMatchObject([{ title: expect.stringContaining('worker-program') }]);
      const [worker, ...others] = processTree(dev.process.pid as number).filter((pid) =>
        commandLine(pid).includes('--inspect='),
      );
      expect(others).toEqual([]);
      expect(worker).toBe(workerBelow(dev.process.pid as number));
      expect(commandLine(worker as number)).toContain(`--inspect=127.0.0.1:${port}`);
    },
  );

  it('applies changes, and keeps the old definitions while new ones have problems', async () => {
    const before = reports();
    project.write(second('tolk'));
    await eventually('problems are told', () => reports() > before, 110_000);
    // The text for people is written to another stream, a moment after the event.
    await seen(dev, "sideA.prompt names a prompt 'tolk', which does not exist. Did you mean 'talk'?");
    await seen(dev, /tolk[\s\S]+The previous definitions stay in use\./);
    expect((await project.run(['threads', 'start', 'helper', 'hello', '--wait'])).stdout).toBe(
      'You said: hello\n',
    );
    // A file that never loads is given up for the next change.
    project.write({ 'agents/tools/weather.ts': NEVER_LOADED });
    await seen(dev, 'loading begins');
    project.write({ ...second('talk'), 'agents/tools/weather.ts': HELPER['agents/tools/weather.ts'] ?? '' });
    await seen(dev, '{"event":"reloaded","agents":["helper","second"]}');
    expect((await project.run(['threads', 'start', 'second', 'hello', '--wait'])).stdout).toBe(
      'You said: hello\n',
    );
  });

  it('applies edits of all that its definitions import from elsewhere, which Node may have loaded', async () => {
    const edited = Object.keys(elsewhere('')).filter((path) => !path.endsWith('package.json'));
    project.write({ ...elsewhere('first'), 'node_modules/acme/package.json': '{}' });
    rmSync(join(project.folder, 'node_modules', 'acme'), { recursive: true });
    symlinkSync(join(project.folder, 'packages', 'acme'), join(project.folder, 'node_modules', 'acme'));
    await reloaded(() => project.write({ 'agents/tools/weather.ts': READS_ELSEWHERE }));
    for (const path of edited) await reloaded(() => replace(path, elsewhere('second')[path] ?? ''));
    expect((await project.run(['threads', 'start', 'helper', 'weather', '--wait'])).stdout).toContain(
      `The tool says: ${edited.map(() => 'second').join(' ')}`,
    );
  });

  it('applies the edit of a helper elsewhere that could not be loaded, or did not exist', async () => {
    const before = reports();
    replace('shared/words.ts', 'export const words = ;\n');
    await eventually('problems are told', () => reports() > before, 110_000);
    await reloaded(() => replace('shared/words.ts', elsewhere('third')['shared/words.ts'] ?? ''));
    project.write({ 'agents/tools/weather.ts': `import '../../shared/later';\n${READS_ELSEWHERE}` });
    await eventually('the missing file is told', () => reports() > before + 1, 20_000);
    await reloaded(() => project.write({ 'shared/later.ts': 'export {};\n' }));
  });

  it('names the edits that it cannot apply', async () => {
    project.write({ '.env': 'OPENAI_API_KEY=changed\n' });
    await seen(dev, '.env has changed: its settings apply when this command is started again.');
    project.write({ 'package.json': '{ "dependencies": {} }\n' });
    await seen(dev, 'package.json has changed: packages that are loaded already stay as they are');
    dev.process.kill('SIGTERM');
    expect((await dev.ended).code).toBe(0);
  });

  /** Waits until a change was loaded without problems. */
  async function reloaded(change: () => void): Promise<void> {
    const count = () => dev.stdout().split('"event":"reloaded"').length;
    const before = count();
    change();
    await eventually('the change is loaded', () => count() > before, 110_000);
  }
});

describe('everthread dev', () => {
  withProject();

  it('ends at once outside a project', async () => {
    rmSync(join(project.folder, 'agents'), { recursive: true });
    const { code, stderr } = await project.run(['dev']);
    expect(code).toBe(2);
    expect(stderr).toContain('There is no agents/ folder here.');
  });
});

describe('everthread worker', () => {
  withProject();
  let next: Running;

  it('hands its work over on SIGTERM, so that the next worker continues at once', async () => {
    const first = project.start(['worker', '--json']);
    await seen(first, '"event":"ready"');
    const tail = await tailOfNew(project, 'hang please');
    await seen(tail, 'I begin');
    first.process.kill('SIGTERM');
    expect((await first.ended).code).toBe(0);
    next = project.start(['worker', '--json']);
    await seen(next, '"event":"ready"');
    await seen(tail, /begins again \(attempt 2\)[\s\S]+assistant: I begin, and/);
  });

  it('takes nothing from a client of another store, which is told so and has stored nothing', async () => {
    const env = { EVERTHREAD_STORE: 'sqlite:other.db' };
    const refused = await project.run(['threads', 'start', 'helper', 'hello', '--wait'], { env });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^StoreMismatch: Process \d+ on \S+ serves the queue .* and this client has store/,
    );
    const { stdout } = await project.run(['threads', 'list', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ threads: [] });
  });

  onLinux('ends when its supervisor is killed, and so does whatever it has started', async () => {
    const tree = processTree(next.process.pid as number);
    expect(tree.length).toBeGreaterThan(1);
    next.process.kill('SIGKILL');
    await eventually('nobody is left', () => !tree.some(isAlive));
  });

  it('ends at once on SIGTERM while a file of its project never loads', async () => {
    project.write({ 'agents/tools/weather.ts': NEVER_LOADED });
    const worker = project.start(['worker', '--json']);
    await seen(worker, 'loading begins');
    worker.process.kill('SIGTERM');
    // Nothing has begun that could be finished.
    expect((await worker.ended).code).toBe(130);
  });

  it('a second signal ends it at once', async () => {
    // A tool that ignores its abort signal would be waited for.
    project.write({
      'agents/tools/weather.ts': `
import { defineTool } from 'everthread';
export default defineTool({
  description: 'Sleeps.',
  execute: () => {
    console.log('I sleep');
    return new Promise(() => setInterval(() => {}, 1000));
  },
});
`,
    });
    const worker = project.start(['worker', '--json']);
    await seen(worker, '"event":"ready"');
    await project.run(['threads', 'start', 'helper', 'the weather']);
    // A queued call is not enough: a worker whose tool has not begun has nothing to wait for.
    await seen(worker, 'I sleep');
    worker.process.kill('SIGINT');
    await seen(worker, 'once more to exit at once');
    worker.process.kill('SIGINT');
    expect((await worker.ended).code).toBe(130);
  });

  it('and the API refuse a namespace that does not exist, with how to create it', async () => {
    const env = { TEMPORAL_NAMESPACE: 'nope' };
    for (const args of [['worker'], ['api', '--port', '0']]) {
      const { stderr } = await project.start(args, env).ended;
      expect(stderr).toMatch(
        /^TemporalUnavailable: .*no namespace "nope"\. Set TEMPORAL_NAMESPACE, or create it/m,
      );
    }
  });

  it('refuses invalid settings, naming the variable', async () => {
    const { code, stderr } = await project.run(['worker'], { env: { EVERTHREAD_LOG: 'loud' } });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^InvalidConfiguration: EVERTHREAD_LOG is "loud"/),
    });
  });
});
