/** runtime §5.1, an extension, for blocking subagents (§7): children whose entry says so work at the same time. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, type RecordedRequest, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import type { TestRuntime } from '../support/runtime.ts';
import { probes } from '../support/side-by-side.ts';
import { cast, childrenOf, familyRuntime } from '../support/subagent-project.ts';

const TOPICS = ['north', 'east', 'south', 'west'] as const;
const OK = says('all read');

/** What the child was asked for: its first message. */
function topicOf({ messages }: RecordedRequest): string {
  const first = messages.find(({ role }) => role === 'user');
  return /north|east|south|west/.exec(JSON.stringify(first?.content))?.[0] ?? '';
}

const scouts = () => callsMany(TOPICS.map((topic) => ({ name: 'scout', args: { topic } })));

interface Research {
  readonly runtime: TestRuntime;
  readonly thread: string;
  readonly search: ReturnType<typeof probes>;
}

/** Each scout calls `probe` with its topic, and hands in what it has read. */
async function research({ policy = false } = {}): Promise<Research> {
  const search = probes({ activity: 'own', ...(policy && { capabilities: ['web.read'] }) });
  const actors = cast({
    main: (request) => (request.messages.at(-1)?.role === 'tool' ? OK : scouts()),
    scout_a: (request) => {
      const last = request.messages.at(-1);
      if (last?.role === 'tool') return calls('finish', { text: String(last.content) });
      return calls('probe', { id: topicOf(request) });
    },
  });
  const runtime = await familyRuntime({
    cast: actors,
    entries: [{ name: 'scout', parallel: true, initUserMessageProperty: 'topic' }],
    tools: { probe: search.probe },
    prompts: {
      scout_a: {
        includeChat: true,
        includePastTools: true,
        requiredSchema: z.object({ topic: z.string() }),
        tools: ['probe', 'finish'],
      },
    },
    ...(policy && { agents: { scout: { policy: { 'web.*': 'require_approval' } } } }),
  });
  const { threadId: thread } = await runtime.client.startThread({
    agent: 'helper',
    messages: [{ content: 'go' }],
  });
  return { runtime, thread, search };
}

async function resultsOf(runtime: TestRuntime, thread: string): Promise<string[]> {
  return (await runtime.transcript(thread)).filter((line) => line.startsWith('tool '));
}

describe('runtime §7 subagents side by side', () => {
  it('[runtime 5.1a] four blocking children work at once, and their reports are results in the returned order', async () => {
    const { runtime, thread, search } = await research();
    await search.haveBegun(...TOPICS);
    expect(search.most()).toBe(4);
    search.letGo('west', 'south', 'east');
    await eventually('three children have ended', async () => {
      const children = await childrenOf(runtime, thread);
      return children.filter(({ terminatedAt }) => terminatedAt !== null).length === 3;
    });
    expect(await resultsOf(runtime, thread)).toEqual([]);
    search.letGo('north');
    await runtime.client.waitForIdle(thread);
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> scout, scout, scout, scout',
      ...TOPICS.map((topic) => `tool scout success: read ${topic}`),
      'assistant: all read',
    ]);
    expect(await childrenOf(runtime, thread)).toHaveLength(4);
  });

  it('[runtime 5.1a] a child that waits for a person holds up its parent, and not the other children', async () => {
    const { runtime, thread, search } = await research({ policy: true });
    const waits = await eventually('four waits', async () => {
      const found = await runtime.client.listWaits({ threadId: thread });
      return found.length === 4 && found;
    });
    const threads = await childrenOf(runtime, thread);
    const answer = async (index: number) => {
      const child = threads[index];
      const wait = waits.find(({ threadId }) => threadId === child?.threadId);
      await runtime.client.answerWait(wait?.id as string, { approved: true });
    };
    search.letGo(...TOPICS);
    for (const index of [3, 1, 2]) await answer(index);
    await eventually('three searches have ended', async () => search.ended.length === 3);
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    await eventually('the parent shows the one that is left', async () => {
      const { status, waits: open = [] } = await handle.query<{ status: string; waits?: unknown[] }>(
        'status',
      );
      return status === 'waiting' && open.length === 1;
    });
    expect((await runtime.client.getThread(thread)).status).toBe('waiting');
    await answer(0);
    await runtime.client.waitForIdle(thread);
    expect(await resultsOf(runtime, thread)).toHaveLength(4);
    expect((await runtime.client.getThread(thread)).status).toBe('idle');
  });

  it('[runtime 5.1a] a stop of the parent reaches all children', async () => {
    const { runtime, thread, search } = await research();
    await search.haveBegun(...TOPICS);
    await runtime.client.stop(thread);
    await eventually('all searches are told', async () => search.aborted.length === 4);
    await runtime.client.waitForIdle(thread);
    expect(await resultsOf(runtime, thread)).toEqual(
      TOPICS.map(() => 'tool scout error: Failed to execute tool: stopped'),
    );
  });

  it('[runtime 5.1a] a child may stand beside a tool that says parallel', async () => {
    const search = probes({ activity: 'own' });
    const look = defineTool({
      description: 'looks',
      parallel: true,
      idempotent: true,
      execute: async () => {
        await search.haveBegun('north');
        search.letGo('north');
        return { status: 'success', result: 'looked' };
      },
    });
    const actors = cast({
      main: [callsMany([{ name: 'look' }, { name: 'scout' }, { name: 'look' }]), OK],
      scout_a: [calls('probe', { id: 'north' }), calls('finish', { text: 'found' })],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', parallel: true }, 'look'],
      tools: { probe: search.probe, look },
      prompts: { scout_a: { includeChat: true, includePastTools: true, tools: ['probe', 'finish'] } },
    });
    const thread = await runtime.start('go');
    expect(await resultsOf(runtime, thread)).toEqual([
      'tool look success: looked',
      'tool scout success: found',
      'tool look success: looked',
    ]);
  });
});
