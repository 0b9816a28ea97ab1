/** The code of the front page runs as printed (project, agent test, client), on the real engine, with a script. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BLOCKS = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
  ([, code = '']) => code,
);
const FILE = /^\/\/ (agents\/\S+\.ts)\n/gm;
const MINUTES = 5 * 60_000;

let folder: string;

/** Returns the only block that contains this text. */
function printed(mark: string): string {
  const found = BLOCKS.filter((code) => code.includes(mark));
  expect(found).toHaveLength(1);
  return found[0] as string;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Runs a program, and parses the last line that it prints as JSON. */
async function run(program: string): Promise<unknown> {
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    EVERTHREAD_STORE: 'sqlite:data/store.db',
    EVERTHREAD_TASK_QUEUE: `readme-${randomUUID()}`,
    EVERTHREAD_LOG: 'error',
  };
  const hooks = join(ROOT, 'test', 'support', 'own-name.mjs');
  // These hooks resolve to a source file; the hook of PROGRAM_OPTIONS, which Node asks first, has that file packed.
  const line = ['--import', hooks, ...PROGRAM_OPTIONS, program];
  const { stdout } = await promisify(execFile)(process.execPath, line, { cwd: folder, env });
  return JSON.parse(stdout.trim().split('\n').at(-1) as string);
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'everthread-readme-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(ROOT, 'node_modules', 'zod'), join(folder, 'node_modules', 'zod'));
  write('package.json', '{"name":"my-agents","type":"module"}');
  const project = printed('// agents/agents/assistant.ts');
  const starts = [...project.matchAll(FILE)];
  for (const [index, start] of starts.entries())
    write(start[1] as string, project.slice(start.index + start[0].length, starts[index + 1]?.index));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it(
  'the test of an agent runs its tool, and the agent answers',
  async () => {
    write(
      'test.ts',
      // The page does not show the payment service.
      `globalThis.pay = async (...paid) => { globalThis.paid = paid; };
     ${printed("from 'everthread/testing'")}
     console.log(JSON.stringify({ content, calls: toolCalls.map(({ name, status, result }) => [name, status, result]), paid: globalThis.paid.slice(0, 2) }));`,
    );
    expect(await run('test.ts')).toEqual({
      content: 'Done.',
      calls: [['refund', 'success', 'refunded 500 cents of order 4711']],
      paid: ['4711', 500],
    });
  },
  MINUTES,
);

it(
  'the client starts a thread, waits and reads the answer',
  async () => {
    write(
      'client.ts',
      `${printed('RuntimeClient.connect()')}\nexport const seen = { status: thread.status, said: messages.map(({ role, content }) => [role, content]) };`,
    );
    write(
      'main.ts',
      `import { says, scriptedModel } from 'everthread/testing';
     import { createWorker } from 'everthread/worker';
     const server = await scriptedModel(() => says('Hello to you.')).serve();
     // What the model of the page reads.
     Object.assign(process.env, { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'k' });
     const worker = await createWorker({ projectDir: '.', signals: false });
     const running = worker.run();
     const { seen } = await import('./client.ts');
     worker.shutdown();
     await running;
     await server.close();
     console.log(JSON.stringify(seen));`,
    );
    expect(await run('main.ts')).toEqual({
      status: 'idle',
      said: [
        ['user', 'hello'],
        ['assistant', 'Hello to you.'],
      ],
    });
  },
  MINUTES,
);
