/** Where an author reads what went wrong in a tool: the log of `everthread worker`, and `threads show --debug`. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { type CliProject, cliProject, HELPER, type Running, seen } from './support.ts';

const TOOL = `import { existsSync } from 'node:fs';
import { defineTool } from 'everthread';
import { z } from 'zod';

interface Weather {
  readonly city: string;
  readonly degrees?: number;
}

type Celsius<T extends Weather> = T extends { degrees: number } ? number : never;

function measure({ city }: Weather): Celsius<never> {
  throw new Error('no thermometer in ' + city);
}

const watch = setInterval(() => {
  if (!existsSync('let-it-throw')) return;
  clearInterval(watch);
  throw new Error('the watch of the module');
}, 20);
watch.unref();

export default defineTool({
  description: 'Tells the weather.', args: z.object({ city: z.string() }),
  execute: async (_state, { city }) => ({ status: 'success', result: String(measure({ city })) }),
});
`;
const lineOf = (text: string) => TOOL.split('\n').findIndex((line) => line.includes(text)) + 1;
const PLACE = `agents/tools/weather.ts:${lineOf("throw new Error('no thermometer")}:9`;

let project: CliProject;
let worker: Running;
let threadId: string;

beforeAll(async () => {
  project = await cliProject({ ...HELPER, 'agents/tools/weather.ts': TOOL });
  worker = project.start(['worker'], KEY);
  await seen(worker, 'ready');
  const started = await project.run(
    ['threads', 'start', 'helper', 'the weather, please', '--wait', '--json'],
    { env: KEY },
  );
  threadId = (JSON.parse(started.stdout) as { threadId: string }).threadId;
});
afterAll(() => project?.remove());

const KEY = { EVERTHREAD_ENCRYPTION_KEYS: `k1:${'ab'.repeat(32)}` };
const show = async (...more: string[]) =>
  (await project.run(['threads', 'show', threadId, ...more], { env: KEY })).stdout;

describe('a tool in TypeScript that throws', () => {
  it('is logged by the worker with the file and line of its source', async () => {
    await seen(worker, 'The tool "weather" failed');
    const line = worker
      .stderr()
      .split('\n')
      .find((each) => each.includes('The tool "weather" failed'));
    expect(line).toContain(`threadId=${threadId}`);
    expect(line).toContain('no thermometer in Paris');
    expect(line).toContain(PLACE);
  });

  it('is shown by threads show --debug, and not without it', async () => {
    expect(await show()).not.toContain(PLACE);
    const debug = await show('--debug');
    expect(debug).toMatch(
      /tool\.result weather in step 1\n {2}Error: no thermometer in Paris\n {2} {4}at measure /,
    );
    expect(debug).toContain(PLACE);
    const { faults } = JSON.parse(await show('--debug', '--json'));
    expect(faults).toMatchObject([
      { type: 'tool.result', name: 'weather', step: 1, stack: expect.stringContaining(PLACE) },
    ]);
  });

  it('is a message for the model with only the thrown message', async () => {
    const { messages } = JSON.parse(await show('--json')) as {
      messages: { role: string; content: string }[];
    };
    expect(messages.find(({ role }) => role === 'tool')?.content).toBe(
      'Failed to execute tool: no thermometer in Paris',
    );
  });

  it('leaves its location, but not the stack, in the history of the workflow', async () => {
    const connection = await Connection.connect({ address: process.env.TEMPORAL_ADDRESS });
    const { workflow } = new Client({ connection });
    const history = JSON.stringify(await workflow.getHandle(`thread/${threadId}`).fetchHistory());
    await connection.close();
    const payloads = [...history.matchAll(/"data":"([^"]*)"/g)].map(([, data = '']) =>
      Buffer.from(data, 'base64').toString(),
    );
    expect(payloads.some((text) => text.includes(`"failedAt":"${PLACE}"`))).toBe(true);
    expect(payloads.join('\n')).not.toContain('at measure');
  });
});

describe('a project module whose timer throws', () => {
  it('is logged, and the worker continues', async () => {
    project.write({ 'let-it-throw': '' });
    await seen(worker, 'the watch of the module');
    expect(worker.stderr()).toMatch(/ERROR The project "definitions" threw an error that nothing catches/);
    const { stdout } = await project.run(['threads', 'start', 'helper', 'again', '--wait'], { env: KEY });
    expect(stdout).toContain('You said: again');
    expect(worker.process.exitCode).toBeNull();
  });
});
