/** The bounds of one subagent: the time limit of its definition, and the tools that its prompt lists. */
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, says } from '../../src/testing/index.ts';
import {
  cast,
  childrenOf,
  familyRegistry,
  familyRuntime,
  lastResult,
  offered,
} from '../support/subagent-project.ts';

describe('a subagent', () => {
  it('[AX-125] that exceeds its time limit is aborted as failed, and its parent continues with the reason', async () => {
    const actors = cast({
      main: [calls('scout'), says('then without it')],
      scout_a: [hangs({ after: 'I think' })],
    });
    const family = await familyRuntime({
      cast: actors,
      entries: ['scout'],
      agents: { scout: { budget: { maxRuntimeSeconds: 1 } } },
    });
    const thread = await family.start('go');
    expect(await family.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
    expect(await lastResult(family, thread)).toMatchObject({
      tool_status: 'error',
      content: expect.stringContaining('maxRuntimeSeconds'),
    });
    const [child] = await childrenOf(family, thread);
    const log = await family.store.events.read(child?.threadId ?? '', 0, 1000);
    expect(eventsOf(log, 'budget.exceeded').map(({ data }) => data.limit)).toEqual(['maxRuntimeSeconds']);
    expect(actors.of('main')).toHaveLength(2);
  });

  it('[AX-127] is offered the tools of its own prompt only; a call of its parent’s tool does not run', async () => {
    let dug = 0;
    const dig = defineTool({
      description: 'digs',
      execute: () => ({ status: 'success', result: `${++dug}` }),
    });
    const actors = cast({
      main: [calls('scout'), says('thank you')],
      scout_a: [calls('dig'), calls('finish', { text: 'not dug' })],
    });
    const family = await familyRuntime({ cast: actors, entries: ['scout', 'dig'], tools: { dig } });
    const thread = await family.start('go');
    expect(await lastResult(family, thread)).toMatchObject({ content: expect.stringContaining('not dug') });
    expect(offered(actors.of('main')[0] as never)).toContain('dig');
    expect(offered(actors.of('scout_a')[0] as never)).not.toContain('dig');
    const [child] = await childrenOf(family, thread);
    const log = await family.store.events.read(child?.threadId ?? '', 0, 1000);
    expect(eventsOf(log, 'tool.result').map(({ data }) => data.status)).toEqual(['error', 'success']);
    expect(actors.of('scout_a')[1]?.messages.at(-1)?.content).toContain('"dig" is not available');
    expect(dug).toBe(0);
  });

  it('[AX-127] whose prompt names an unknown tool is refused with its project', () => {
    const prompts = { scout_a: { tools: ['finish', 'nowhere'] } };
    expect(() => familyRegistry({ cast: cast({}), entries: ['scout'], prompts })).toThrow(/nowhere/);
  });
});
