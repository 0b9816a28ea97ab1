/**
 * A remote agent as a tool: a thread of one Everthread asks an agent of another over its A2A endpoint. Two runtimes,
 * each with a store and a worker.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type A2aAgentInput, defineA2aAgent, defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, type ScriptedModel, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { eventually, type RuntimeOptions, type TestRuntime, testRuntime } from '../support/runtime.ts';

let theirs: TestRuntime;
let url: string;

async function elsewhere(options: RuntimeOptions): Promise<void> {
  theirs = await testRuntime(options);
  const api = await testApi(theirs);
  url = `${api.url}/a2a/helper`;
}

const cards: ReturnType<typeof createServer>[] = [];
afterAll(() => {
  for (const card of cards) card.close();
});

/** Serves the card of the remote agent with this binding only. */
async function speaking(binding: string): Promise<Pick<A2aAgentInput, 'url' | 'origins'>> {
  const response = await fetch(`${url}/.well-known/agent-card.json`);
  const card = (await response.json()) as { supportedInterfaces: { readonly protocolBinding: string }[] };
  const supportedInterfaces = card.supportedInterfaces.filter(
    ({ protocolBinding }) => protocolBinding === binding,
  );
  const server = createServer((_, answer) => {
    answer.setHeader('connection', 'close');
    answer.end(JSON.stringify({ ...card, supportedInterfaces }));
  });
  cards.push(server);
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/card.json`, origins: [new URL(url).origin] };
}

const BINDINGS = ['JSONRPC', 'HTTP+JSON'];

const asks = (message: string, more: object = {}) => calls('a2a__expert', { message, ...more });

function here(model: ScriptedModel, more: Partial<RuntimeOptions> = {}, agent: Partial<A2aAgentInput> = {}) {
  const expert = defineA2aAgent({ description: 'Knows things.', url, idempotent: true, ...agent });
  return testRuntime({ model, a2aAgents: { expert }, prompt: { tools: ['a2a:expert'] }, ...more });
}

const toolLines = async (runtime: TestRuntime, id: string) =>
  (await runtime.transcript(id)).filter((line) => line.startsWith('tool'));

/** The remote thread that a call has begun. */
async function theirThread(runtime: TestRuntime, id: string): Promise<{ contextId: string; taskId: string }> {
  return eventually('the task elsewhere', async () => {
    const found = (await runtime.store.events.read(id, 0)).find(({ type }) => type === 'a2a.task');
    return found?.data as { contextId: string; taskId: string } | undefined;
  });
}

describe('a remote agent', () => {
  it('is offered with its author’s description, called once, and its answer is the result', async () => {
    await elsewhere({ model: scriptedModel([says('Four.')]) });
    const model = scriptedModel([asks('Two and two?'), says('It is four.')]);
    const runtime = await here(model);
    const id = await runtime.start('go');
    expect(model.requests[0]?.tools?.[0]?.function).toMatchObject({
      name: 'a2a__expert',
      description: 'Knows things.',
      parameters: { required: ['message'] },
    });
    expect(await toolLines(runtime, id)).toEqual(['tool a2a__expert success: Four.']);
    const { contextId } = await theirThread(runtime, id);
    expect(await theirs.transcript(contextId)).toEqual(['user: Two and two?', 'assistant: Four.']);
  });

  it('starts a context with each call, or continues that of its thread', async () => {
    await elsewhere({ model: scriptedModel(({ messages }) => says(`${messages.length} messages`)) });
    const script = () => [asks('one'), asks('two'), says('done')];
    const plain = await here(scriptedModel(script()));
    expect(await toolLines(plain, await plain.start('go'))).toEqual([
      'tool a2a__expert success: 2 messages',
      'tool a2a__expert success: 2 messages',
    ]);
    const resumable = await here(scriptedModel(script()), {}, { resumable: true });
    expect(await toolLines(resumable, await resumable.start('go'))).toEqual([
      'tool a2a__expert success: 2 messages',
      'tool a2a__expert success: 4 messages',
    ]);
  });

  it('returns files, and gets those named by the call', async () => {
    const look = defineTool({
      description: 'looks',
      execute: async (state) => {
        const [path = ''] = (await state.findFiles('attachments/*')).paths;
        await state.writeFile('report.txt', 'all of it', 'text/plain');
        return {
          status: 'success',
          result: new TextDecoder().decode((await state.readFile(path)) ?? undefined),
        };
      },
    });
    await elsewhere({ model: scriptedModel([calls('look', {}), says('See the report.')]), tools: { look } });
    const note = defineTool({
      description: 'notes',
      execute: async (state) => {
        await state.writeFile('in.txt', 'to be read', 'text/plain');
        return { status: 'success' };
      },
    });
    const model = scriptedModel([calls('note', {}), asks('Read it', { files: ['in.txt'] }), says('done')]);
    const runtime = await here(model, { tools: { note }, prompt: { tools: ['note', 'a2a:expert'] } });
    const id = await runtime.start('go');
    expect((await toolLines(runtime, id)).at(-1)).toContain('success: See the report.');
    const { contextId } = await theirThread(runtime, id);
    const seen = (await theirs.transcript(contextId)).find((line) => line.startsWith('tool')) ?? '';
    expect(seen).toBe('tool look success: to be read');
    const { messages } = await runtime.store.messages.list(id);
    const files = messages.flatMap(({ attachments }) => attachments ?? []);
    expect(files).toMatchObject([{ name: 'report.txt' }]);
  });

  it('that fails is an error with a code that its model reads', async () => {
    await elsewhere({ model: scriptedModel([]), side: { maxSteps: 1 } });
    const model = scriptedModel([asks('go'), says('so be it')]);
    const runtime = await here(model);
    const id = await runtime.start('go');
    expect(JSON.stringify(await runtime.store.messages.list(id))).toContain('A2aTaskFailed');
  });

  it.each(BINDINGS)('asks over %s: a durable wait, whose answer continues the same task', async (binding) => {
    const book = defineTool({
      description: 'books',
      asks: true,
      execute: async (state) => {
        const { value } = await state.ask({ key: 'who', question: 'For whom?' });
        return { status: 'success', result: `for ${value}` };
      },
    });
    await elsewhere({ model: scriptedModel([calls('book', {}), says('Booked.')]), tools: { book } });
    const model = scriptedModel([asks('Book it'), says('done')]);
    const runtime = await here(model, {}, await speaking(binding));
    const { threadId: id } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'go' }],
    });
    expect(await runtime.client.waitForIdle(id)).toMatchObject({ status: 'waiting' });
    const [wait] = await runtime.client.listWaits({ threadId: id });
    expect(wait).toMatchObject({ kind: 'question', name: 'a2a__expert', data: { agent: 'expert' } });
    expect(wait?.summary).toContain('For whom?');
    await runtime.client.answerWait(String(wait?.id), { value: 'Ada' });
    await runtime.client.waitForIdle(id);
    expect(await toolLines(runtime, id)).toEqual(['tool a2a__expert success: Booked.']);
    const { contextId } = await theirThread(runtime, id);
    expect(await theirs.transcript(contextId)).toContain('tool book success: for Ada');
  });

  it('whose question is denied is cancelled, and the call is an error', async () => {
    const book = defineTool({
      description: 'books',
      confirm: () => 'Book it?',
      execute: () => ({ status: 'success' }),
    });
    await elsewhere({ model: scriptedModel([calls('book', {})]), tools: { book } });
    const runtime = await here(scriptedModel([asks('Book it'), says('done')]));
    const { threadId: id } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'go' }],
    });
    await runtime.client.waitForIdle(id);
    const [wait] = await runtime.client.listWaits({ threadId: id });
    await runtime.client.answerWait(String(wait?.id), { approved: false });
    await runtime.client.waitForIdle(id);
    expect((await toolLines(runtime, id))[0]).toContain('was not answered');
    const { contextId } = await theirThread(runtime, id);
    await canceled(contextId);
  });
});

/** Resolves with the cancellation of a call's remote task. */
const canceled = (contextId: string) =>
  eventually('the cancellation of its task', async () => {
    const [found] = await theirs.client.listExecutions({ threadId: contextId });
    return found?.canceled ?? undefined;
  });

/** Resolves when every remote task that a call has abandoned is cancelled. */
const nobodyWants = (runtime: TestRuntime, id: string) =>
  eventually(
    'the end of what it has left',
    async () => (await runtime.store.a2a.listUnwanted(id)).length === 0,
  );

describe('a remote task', () => {
  beforeEach(() => elsewhere({ model: scriptedModel(() => hangs()) }));

  it.each([
    ['stop', 'JSONRPC'],
    ['cancel', 'JSONRPC'],
    ['terminate', 'JSONRPC'],
    ['stop', 'HTTP+JSON'],
  ] as const)('is cancelled with its call, at a %s, over %s', async (how, binding) => {
    const runtime = await here(scriptedModel([asks('go')]), {}, await speaking(binding));
    const { threadId: id } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'go' }],
    });
    const { contextId } = await theirThread(runtime, id);
    // A task that is cancelled while it is still queued leaves no execution.
    await eventually('its beginning', async () => {
      const [begun] = await theirs.client.listExecutions({ threadId: contextId });
      return begun;
    });
    if (how === 'stop') await runtime.client.stop(id);
    else if (how === 'cancel') await runtime.client.cancelExecution(id, {});
    else await runtime.client.terminate(id);
    await canceled(contextId);
    await nobodyWants(runtime, id);
  });

  it('that exceeds its timeout is cancelled, and the call is an error with a code', async () => {
    const model = scriptedModel([asks('go'), says('too slow')]);
    const runtime = await here(model, {}, { timeoutMs: 1500 });
    // Whether the task has begun by then depends on the machine: one that is still queued is cancelled too.
    const id = await runtime.start('go');
    expect((await toolLines(runtime, id))[0]).toContain('did not end within 1500 ms');
    await nobodyWants(runtime, id);
  });

  it('is judged by its capability before anything is sent', async () => {
    const policy = { 'a2a.*': 'deny' } as const;
    const runtime = await here(scriptedModel([asks('go'), says('not allowed')]), { agent: { policy } });
    const threads = async () => (await theirs.client.listThreads({ agent: 'helper' })).map(({ id }) => id);
    const before = await threads();
    const id = await runtime.start('go');
    expect((await toolLines(runtime, id))[0]).toContain('error');
    expect((await threads()).filter((each) => !before.includes(each))).toEqual([]);
  });
});
