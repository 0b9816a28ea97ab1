/** `everthread threads logs`, over a store that nobody else uses. */

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPico } from '../../src/core/value/money.ts';
import { call, message, openThread } from '../contract/thread-driver.ts';
import { type CliProject, cliProjectWith } from './support.ts';

let project: CliProject;
let id: string;

beforeAll(async () => {
  project = await cliProjectWith(async (store) => {
    const thread = await openThread(store);
    id = thread.id;
    const ref = await thread.beginCall([message('a')]);
    await store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
    const usage = { promptTokens: 300, completionTokens: 20, totalTokens: 320 };
    await store.modelCalls.end({ ...ref, call: 1, ok: true, usage, cost: toPico(0.0125) });
    await thread.commit(ref, { toolCalls: [call('c0', 'look')] });
    await thread.runTool(ref.step, 0);
    await thread.rest('idle', { reason: 'stop_on_response' });
  });
});
afterAll(() => project.remove());

const run = (...args: string[]) => project.run(['threads', 'logs', ...args]);

describe('everthread threads logs', () => {
  it('shows model calls with tokens and cost, tool calls with their outcome, and the sum', async () => {
    const { code, stdout, stderr } = await run(id);
    expect(code).toBe(0);
    const [heading, ...lines] = stdout.trim().split('\n');
    expect(heading).toMatch(/^AT +WHAT +NAME +OUTCOME +TOOK +TOKENS +COST$/);
    expect(lines.find((line) => line.includes('model call'))).toMatch(
      /main +ok +\d+ ms +300 \+ 20 +\$0\.0125/,
    );
    expect(lines.find((line) => line.includes('tool call'))).toMatch(/look +success +\d+ ms/);
    expect(lines.find((line) => line.includes('ended'))).toMatch(/execution +ended: stop_on_response/);
    expect(stderr).toContain('1 model call, 320 tokens, $0.0125');
  });

  it('prints JSON, newest last, as many as requested', async () => {
    const { logs } = JSON.parse((await run(id, '--json', '--limit', '2')).stdout);
    expect(logs.map(({ data }: { data: { event: string } }) => data.event)).toEqual([
      'execution.ended',
      'thread.status',
    ]);
  });

  it('reports an unknown thread', async () => {
    expect(await run('nobody')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('nobody'),
    });
  });
});
