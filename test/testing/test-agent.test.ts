import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { isRuntimeError } from '../../src/index.ts';
import {
  assertRunEvents,
  calls,
  callsMany,
  hangs,
  says,
  type TestAgent,
  type TestAgentOptions,
  testAgent,
} from '../../src/testing/index.ts';

const project = join(import.meta.dirname, 'project');
const env = { SHOP_KEY: 'k-1' };
const opened: TestAgent[] = [];

afterEach(async () => {
  for (const agent of opened.splice(0)) await agent[Symbol.asyncDispose]();
});

async function open(
  options: Partial<TestAgentOptions> & Pick<TestAgentOptions, 'script'>,
): Promise<TestAgent> {
  const agent = await testAgent({ project, env, timeoutMs: 120_000, ...options });
  opened.push(agent);
  return agent;
}

/** A test whose assertion fails before it closes its agent, and one that opens it in a hook, which outlives the hook. */
const FAILING = `
import { before, describe, it, test } from 'node:test';
import { says, testAgent } from '${new URL('../../src/testing/index.ts', import.meta.url).href.split('?')[0]}';
const options = { project: '${project}', env: { SHOP_KEY: 'k-1' }, script: [says('one')] };
describe('an agent of a hook', () => {
  let agent;
  before(async () => { agent = await testAgent(options); });
  it('answers', async () => { await agent.sendMessage('hello'); });
});
test('fails before it closes its agent', async () => {
  const agent = await testAgent(options);
  throw new Error('an assertion');
});
`;

describe('a test agent', () => {
  test('gives the value of an answer whose message has its type', async () => {
    const agent = await open({ script: [says('one'), says('{"line":"one"}')] });
    const output = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] };
    const answer = await agent.sendMessage({ content: 'hello', output });
    expect(answer).toMatchObject({ status: 'idle', content: '{"line":"one"}', output: { line: 'one' } });
  });

  test("is closed behind the tests of Node's test runner, so that a failed assertion does not hold their process", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everthread-node-test-'));
    const file = join(folder, 'failing.test.mjs');
    writeFileSync(file, FAILING);
    const child = spawn(process.execPath, ['--test', '--test-reporter=tap', file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    const [code] = await once(child, 'close');
    rmSync(folder, { recursive: true });
    expect(code).toBe(1);
    expect(output).toMatch(/^# pass 1$/m);
    expect(output).toMatch(/^# fail 1$/m);
  });

  test('answers with status, text, calls and results; the script replaces the project’s model', async () => {
    const listening = process.listenerCount('SIGINT');
    const agent = await open({
      script: [
        callsMany([
          { name: 'find_order', args: { id: '4711' } },
          { name: 'find_order', args: '{"id"' },
        ]),
        says('It is on its way.'),
        says('You are welcome.'),
        calls('find_order', { id: '4712' }),
      ],
    });
    // No handler of SIGINT is added, so Ctrl-C ends the tests.
    expect(process.listenerCount('SIGINT')).toBe(listening);
    const answer = await agent.sendMessage('Where is 4711?');
    expect(answer).toMatchObject({ status: 'idle', content: 'It is on its way.', error: null, waits: [] });
    expect(answer.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
    ]);
    expect(answer.toolCalls).toEqual([
      {
        id: 'call_1',
        name: 'find_order',
        arguments: { id: '4711' },
        status: 'success',
        result: 'Order 4711 is on its way (3 characters).',
      },
      {
        id: 'call_2',
        name: 'find_order',
        arguments: {},
        rawArguments: '{"id"',
        status: 'error',
        result: expect.stringContaining('validation failed'),
      },
    ]);
    const thanks = await agent.sendMessage({ content: 'Thank you.' });
    expect(thanks.messages.map(({ content }) => content)).toEqual(['Thank you.', 'You are welcome.']);
    expect(thanks.toolCalls).toEqual([]);
    expect(agent.requests).toHaveLength(3);
    expect(agent.requests[0]).toMatchObject({ model: 'gpt-5-mini' });

    const failed = await agent.sendMessage('And 4712?');
    expect(failed).toMatchObject({ status: 'failed', content: null });
    expect(failed.error?.message).toContain('The script ran out: it has 4 steps, and this is request 5');
    expect((await agent.getToolCalls()).map(({ id }) => id)).toEqual(['call_1', 'call_2', 'call_3']);
    expect(await agent.getMessages({ limit: 1 })).toHaveLength(1);
    assertRunEvents(await agent.events({ as: 'run' }), [
      'llm.call.started',
      'action.completed',
      'task.error',
    ]);
    expect((await agent.events()).map(({ type }) => type)).toContain('thread.created');
    await agent.close();
  });

  test('waits for people, continues when they have answered, and leaves nothing behind', async () => {
    const agent = await open({
      script: [calls('refund', { id: '4711', cents: 900 }), says('Done.'), hangs()],
      allowUnused: true,
    });
    const asked = await agent.sendMessage('I want my money back.');
    expect(asked).toMatchObject({ status: 'waiting', waits: [{ name: 'refund' }] });
    expect(asked.toolCalls).toMatchObject([{ name: 'refund', status: null, result: null }]);
    expect(await agent.answerWait({ approved: true })).toMatchObject({ status: 'idle', content: 'Done.' });
    expect(await agent.getToolCalls()).toMatchObject([
      { status: 'success', result: 'refunded 900 cents of 4711' },
    ]);
    await expect(agent.answerWait({ approved: true })).rejects.toMatchObject({ code: 'WaitNotFound' });

    const called = await agent.callTool('find_order', { id: '1' });
    expect(called).toMatchObject({ status: 'success', content: 'Order 1 is on its way (3 characters).' });

    const other = await agent.startThread({ env: { SHOP_KEY: 'k-22' } });
    expect(other.threadId).not.toBe(agent.threadId);
    await other.queueMessage('Are you there?');
    expect(await other.stop('enough')).toMatchObject({ status: 'stopped', content: null });
    const workflow = agent.client.temporal.workflow.getHandle(`thread/${other.threadId}`);
    expect(await workflow.describe()).toMatchObject({ status: { name: 'RUNNING' } });
    await agent.close();
  });

  test('can be closed only with its script used up, and once', async () => {
    const agent = await open({ script: { main: [says('one'), says('two')] } });
    await agent.sendMessage('hello');
    await expect(agent.close()).rejects.toThrow('1 of its 2 steps are left after 1 requests');
    await agent.close();
    await expect(agent.sendMessage('still there?')).rejects.toThrow();
  });

  test('names an unknown model, and opens nothing', async () => {
    await expect(open({ script: { maim: [] } })).rejects.toThrow('no model "maim". Did you mean \'main\'?');
    await expect(open({ script: [], agent: 'disk' })).rejects.toThrow(
      'no agent "disk". Did you mean \'desk\'?',
    );
    const problem = await open({ script: [], project: join(project, 'nowhere') }).catch((error) => error);
    expect(isRuntimeError(problem, 'InvalidDefinitions')).toBe(true);
    expect(existsSync(join(project, '.everthread'))).toBe(false);
  });
});
