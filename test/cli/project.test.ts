/** `everthread validate`, `new` and `doctor`, and the command's own help. */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CliProject, cliProject, HELPER, seen } from './support.ts';

let project: CliProject;

/** Option to run a command in a reused process: one start in a separate process is enough to show that it starts. */
const INSIDE = { alone: false };

beforeEach(async () => {
  project = await cliProject();
});
afterEach(() => project.remove());

describe('everthread validate', () => {
  it('counts the definitions if there are no problems', async () => {
    project.write(HELPER);
    expect(await project.run(['validate'])).toEqual({
      code: 0,
      stdout: '1 agent, 1 prompt, 1 model, 1 tool: no problems\n',
      stderr: '',
    });
  });

  it('shows the price of a known model, and its source', async () => {
    project.write({
      ...HELPER,
      'agents/models/known.ts':
        "import { defineModel } from 'everthread';\nimport { openaiCompatible } from 'everthread/models';\nexport default defineModel({ name: 'known', provider: openaiCompatible({ baseUrl: 'https://api.openai.com/v1', apiKey: 'none' }), model: 'gpt-4o-mini' });\n",
    });
    const { stdout } = await project.run(['validate'], INSIDE);
    expect(stdout).toMatch(
      /^known: \$0\.15 in, \$0\.6 out per million tokens \(@pydantic\/genai-prices [\d.]+, [\d-]+\)$/m,
    );
    const { prices } = JSON.parse((await project.run(['validate', '--json'], INSIDE)).stdout);
    expect(prices).toContainEqual({ model: 'known', price: expect.objectContaining({ inputPrice: 0.15 }) });
  });

  it('prints every problem of every file and ends with exit code 2', async () => {
    project.write({
      ...HELPER,
      'agents/agents/helper.ts':
        "import { defineAgent } from 'everthread';\nexport default defineAgent({ name: 'helper', sideA: { prompt: 'tolk' } });\n",
      'agents/tools/weather.ts': 'export const nothing = 1;\n',
    });
    const { code, stdout, stderr } = await project.run(['validate'], INSIDE);
    expect(code).toBe(2);
    expect(stdout).toContain("agents/agents/helper.ts\n  - sideA.prompt names a prompt 'tolk'");
    expect(stderr).toContain(
      'agents/tools/weather.ts\n  - is treated as a helper, because it has no default export. To define a tool, export default defineTool',
    );
    const report = JSON.parse((await project.run(['validate', '--json'], INSIDE)).stdout);
    expect(report).toMatchObject({
      ok: false,
      agents: ['helper'],
      about: [{ name: 'helper', type: 'ai_human' }],
      problems: expect.arrayContaining([
        expect.objectContaining({ file: 'agents/agents/helper.ts', field: 'sideA.prompt' }),
      ]),
    });
  });

  it('ends although a file leaves a timer open, and names the file', async () => {
    project.write({
      ...HELPER,
      'agents/tools/weather.ts': `${HELPER['agents/tools/weather.ts']}\nsetInterval(() => {}, 60_000);\n`,
    });
    const { code, stdout, stderr } = await project.run(['validate']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '1 agent, 1 prompt, 1 model, 1 tool: no problems\n',
    });
    expect(stderr).toContain('agents/tools/weather.ts\n  - leaves a timer open when it is loaded');
  });

  it('prints a promise that a file lets reject as a problem with its line', async () => {
    project.write({ ...HELPER, 'agents/tools/weather.ts': "void Promise.reject(new Error('stray'));\n" });
    const { code, stdout } = await project.run(['validate']);
    expect(code).toBe(2);
    expect(stdout).toContain('agents/tools/weather.ts\n  - line 1: could not be loaded: stray');
  });

  it('explains what to do in a folder without agents', async () => {
    const { code, stdout } = await project.run(['validate'], INSIDE);
    expect(code).toBe(2);
    expect(stdout).toContain('everthread new');
  });
});

describe('everthread new', () => {
  it('fills a folder made by npm init, and the project works at once', async () => {
    project.write({
      'package.json':
        '{ "name": "mine", "type": "commonjs", "scripts": { "dev": "mine", "test": "echo \\"Error: no test specified\\" && exit 1" } }',
      '.gitignore': 'dist',
      '.env': 'OPENAI_MODEL=mine\n',
    });
    const made = await project.run(['new', '.']);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('OPENAI_API_KEY is not set') });
    expect(made.stdout).toMatch(/^Wrote a project into this folder:\n/);
    const manifest = JSON.parse(readFileSync(join(project.folder, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      name: 'mine',
      type: 'commonjs',
      scripts: { dev: 'mine', chat: 'everthread chat assistant', test: 'everthread test' },
    });
    expect(manifest.dependencies).toEqual({
      everthread: expect.stringMatching(/^file:\.\./),
      zod: expect.stringMatching(/^\^4/),
    });
    expect(readFileSync(join(project.folder, '.gitignore'), 'utf8')).toBe(
      'dist\nnode_modules/\n.everthread/\n.env\n',
    );
    expect((await project.run(['validate'], INSIDE)).stdout).toBe(
      '1 agent, 1 prompt, 1 model, 2 tools: no problems\n',
    );
    const worker = project.start(['worker'], { EVERTHREAD_LOG: 'info,json' });
    await seen(worker, '"message":"Worker ready"');
    expect(worker.stderr()).toContain('Read .env: OPENAI_MODEL.');
    const answer = await project.run(['threads', 'start', 'assistant', 'How much is 6 * 7?', '--wait']);
    expect(answer).toMatchObject({ code: 0, stdout: '6 * 7 = 42.\n' });
    await seen(worker, /"tool":"calculate","status":"success"/);
    for (const line of worker.stderr().trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
  });

  it('creates a new folder whose dependency is the running copy', async () => {
    const { code, stdout } = await project.run(['new', 'My Agents']);
    expect(code).toBe(0);
    for (const text of ['  package.json\n', '  README.md\n', '  cd "My Agents"\n', '  npm install\n'])
      expect(stdout).toContain(text);
    const folder = join(project.folder, 'My Agents');
    const { name, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(name).toBe('my-agents');
    const target = join(folder, dependencies.everthread.slice('file:'.length));
    expect(JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')).name).toBe('everthread');
    symlinkSync(join(project.folder, 'node_modules'), join(folder, 'node_modules'));
    expect((await project.run(['validate', '--project', folder], INSIDE)).code).toBe(0);
  });

  it('refuses a non-empty folder, and writes nothing', async () => {
    project.write({ 'index.js': '1' });
    const { code, stderr } = await project.run(['new', '.']);
    expect(code).toBe(2);
    expect(stderr).toContain('this folder is not empty: it has index.js');
    expect(existsSync(join(project.folder, 'agents'))).toBe(false);
  });
});

describe('everthread test', () => {
  const ALONE = { alone: true };

  it("runs the project's tests with the Node that runs it, and ends as they do", async () => {
    project.write({
      'test/a.test.mts': `import { test } from 'node:test';
        test('runs', (t: { diagnostic(text: string): void }) => t.diagnostic(process.execPath));
        test('fails', () => { throw new Error('broken'); });`,
    });
    const all = await project.run(['test'], ALONE);
    expect(all).toMatchObject({ code: 1, stdout: expect.stringContaining(process.execPath) });
    expect(all.stdout).toMatch(/pass 1\n.* fail 1\n/);
    const chosen = await project.run(['test', '--', '--test-name-pattern=runs', 'test/a.test.mts'], ALONE);
    expect(chosen).toMatchObject({ code: 0, stdout: expect.stringMatching(/pass 1\n.* fail 0\n/) });
    const asJson = await project.run(['test', '--json'], ALONE);
    expect(asJson).toMatchObject({ code: 1, stderr: expect.stringContaining('pass 1') });
    expect(JSON.parse(asJson.stdout)).toEqual({ ok: false });
  });
});

describe('everthread doctor', () => {
  const statuses = (stdout: string) =>
    Object.fromEntries(
      (JSON.parse(stdout).checks as { name: string; status: string }[]).map(({ name, status }) => [
        name,
        status,
      ]),
    );

  it('checks machine, project and server, and measures a step', async () => {
    project.write(HELPER);
    const secret = 'sk-not-to-be-printed';
    const { code, stdout, stderr } = await project.run(['doctor', '--json'], {
      env: { OPENAI_API_KEY: secret },
    });
    expect(code).toBe(0);
    expect(statuses(stdout)).toEqual({
      node: 'ok',
      project: 'ok',
      store: 'warn',
      'model key': 'ok',
      sandbox: expect.stringMatching(/ok|warn/),
      temporal: 'ok',
      namespace: 'ok',
      'search attributes': 'ok',
      settings: 'ok',
      workers: 'warn',
      speed: expect.stringMatching(/ok|warn/),
    });
    expect(stdout).toMatch(/[\d.]+ ms from one activity/);
    expect(stdout + stderr).not.toContain(secret);
    expect(existsSync(join(project.folder, 'data'))).toBe(false);
  });

  it('reports the isolation of programs, and fails if the required one is missing', async () => {
    project.write(HELPER);
    const sandboxOf = async (wall: string) => {
      // Only the sandbox is checked: without a server there is no step to measure.
      const env = { EVERTHREAD_SANDBOX_WALL: wall, TEMPORAL_ADDRESS: '127.0.0.1:1' };
      const { stdout } = await project.run(['doctor', '--json'], { env, ...INSIDE });
      const { checks } = JSON.parse(stdout) as {
        checks: { name: string; status: string; message: string }[];
      };
      return checks.find(({ name }) => name === 'sandbox');
    };
    expect(await sandboxOf('none')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining("only Node's permission model"),
    });
    const best = await sandboxOf('auto');
    const demanded = await sandboxOf('required');
    expect(demanded?.status).toBe(best?.status === 'ok' ? 'ok' : 'fail');
    if (best?.status === 'ok')
      expect(best.message).toMatch(/the protection of environment, files, writing, network, processes/);
  });

  it('explains how to fix a failed check, and ends with exit code 1', async () => {
    project.write({ ...HELPER, 'agents/agents/helper.ts': 'export default nothing;\n' });
    const { code, stdout } = await project.run(['doctor'], {
      env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
      ...INSIDE,
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail {2}project: definitions have problems/m);
    expect(stdout).toMatch(
      /^fail {2}temporal: nothing answers at 127\.0\.0\.1:1\n {6}Start one with "everthread dev"/m,
    );
    expect(
      statuses(
        (await project.run(['doctor', '--json'], { env: { TEMPORAL_NAMESPACE: 'nowhere' }, ...INSIDE }))
          .stdout,
      ),
    ).toMatchObject({
      temporal: 'ok',
      namespace: 'fail',
    });
  });
});

describe('everthread --help', () => {
  it('groups the commands, gives examples and exit codes', async () => {
    const { code, stdout } = await project.run(['--help']);
    expect(code).toBe(0);
    for (const text of [
      'Running agents:',
      'Talking to them:',
      'Project:',
      'Examples:',
      'Exit codes:',
      'doctor',
      'chat',
    ]) {
      expect(stdout).toContain(text);
    }
    expect(await project.run([])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Running agents:'),
    });
    expect(await project.run(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });
});
