/**
 * The examples of AgenticX's page and of ours, twice: their first process is killed in the middle, a second one takes
 * their work up.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Group, runTwice, tabulate } from '../support/examples-twice.ts';

const PAGE = 'docs/agenticx.md';

/** The page of AgenticX itself, "Typical usage": in its language a reader names the same things. */
const TYPICAL = `
import { Agent, AgentExecutor, Task } from 'everthread/agenticx';
import { calls, scriptedModel } from 'everthread/testing';
const { provider } = scriptedModel([
  calls('search'),
  calls('finish_task', { result: 'X is well understood.' }),
]);
const agent = new Agent({
  name: 'Research Assistant',
  role: 'Analyst',
  goal: 'Summarize findings',
  organizationId: 'my-org',
  tools: { search: { description: 'Finds sources.', run: () => (did('searched'), 'two papers') } },
});
const task = new Task({ id: 't1', description: 'Research topic X', expectedOutput: 'Short report' });
const executor = new AgentExecutor({ llmProvider: { provider, model: 'gpt-4o' } });
const result = await executor.run({ agent, task });
console.log(result.success, result.result);
await executor.close();
`;

let ran: Group;

beforeAll(async () => {
  ran = await runTwice([
    { page: 'Agent Runtime', at: { line: 20, source: TYPICAL }, stop: 'model 2' },
    {
      page: PAGE,
      at: 'Refund order 4711.',
      stop: 'model 2',
      edits: [['run: ({ order }) =>', "run: ({ order }) => did('refunded') ??"]],
    },
  ]);
  process.stdout.write(`${tabulate(ran.examples)}\n`);
  process.stdout.write(`${JSON.stringify(ran, null, 1)}\n`);
}, 300_000);

describe('an example whose process is killed', () => {
  it('typical usage: the second process takes the task up, and searches no second time', () => {
    const [typical] = ran.examples;
    expect(typical).toMatchObject({ first: { state: 'killed at model 2' }, second: { state: 'done' } });
    expect(typical?.second.lines).toEqual(['true X is well understood.']);
    expect(typical?.again.lines).toEqual(typical?.second.lines);
    expect(typical?.count('searched')).toBe(1);
  });
});
