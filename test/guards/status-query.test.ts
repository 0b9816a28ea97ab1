/** A parent's model queries the status of its subagents: how often it may, what it reads, and how excess is refused. */
import { describe, expect, it } from '@jest/globals';
import { refuseQuery, toStatusGuard } from '../../src/core/guard/status-query.ts';
import { calls, callsMany, says } from '../../src/testing/index.ts';
import { cast, childrenOf, familyRuntime, heldTool, settled } from '../support/subagent-project.ts';

const QUERY = 'query_subagent_status';
const CHAT = { includeChat: true, includePastTools: true };

describe('the status query for subagents', () => {
  it('[AX-68] is allowed twice in a turn, eight seconds apart, by default', () => {
    const page = { statusBudget: 2, statusCooldownSeconds: 8 };
    expect(toStatusGuard()).toEqual(page);
    expect(toStatusGuard({ statusBudget: 0, statusCooldownSeconds: 0 })).toEqual({
      statusBudget: 1,
      statusCooldownSeconds: 0,
    });
    expect(refuseQuery(page, { count: 0, sinceMs: null })).toBeUndefined();
    expect(refuseQuery(page, { count: 1, sinceMs: 8000 })).toBeUndefined();
    expect(refuseQuery(page, { count: 1, sinceMs: 1500 })).toMatch(
      /^status_query_cooldown: .* again in 7 s\./,
    );
    expect(refuseQuery(page, { count: 2, sinceMs: 60_000 })).toMatch(
      /^status_query_budget: .* 2 times per turn/,
    );
  });

  it('[AX-68] returns the status; too soon and too often are refused, in a turn of a root only', async () => {
    const { wait, release } = heldTool();
    const results: string[] = [];
    const actors = cast({
      main: ({ messages }) => {
        const last = messages.at(-1);
        if (last?.role === 'tool') results.push(String(last.content));
        switch (last?.content) {
          case 'none':
            return calls(QUERY);
          case 'begin':
            return callsMany([{ name: 'scout' }, { name: QUERY }]);
          case 'ask':
            return callsMany([{ name: QUERY }, { name: QUERY }, { name: QUERY }]);
          default:
            return says('noted');
        }
      },
      scout_a: ({ messages }) =>
        messages.some(({ role }) => role === 'tool') ? calls('finish', { text: 'found' }) : calls('wait'),
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', blocking: false }, QUERY],
      guards: { team: { statusCooldownSeconds: 0 } },
      prompts: { scout_a: { ...CHAT, tools: ['wait', 'finish'] } },
      tools: { wait },
    });
    const thread = await runtime.start('none');
    await runtime.say(thread, 'begin');
    const [child] = await childrenOf(runtime, thread);
    const row = { agent_id: child?.threadId, role: 'scout' };
    expect(results[0]).toContain('You have not started any subagents.');
    expect(JSON.parse(results[1] ?? '')).toEqual({ subagents: [{ ...row, status: 'running' }] });
    release();
    await settled(runtime, thread);
    await runtime.say(thread, 'ask');
    const told = (await runtime.messages(thread)).filter(({ role }) => role === 'tool').slice(-3);
    const completed = JSON.stringify({ subagents: [{ ...row, status: 'completed' }] });
    expect(told.map(({ content }) => content)).toEqual([
      completed,
      completed,
      expect.stringContaining('status_query_budget: '),
    ]);
  });

  it('[AX-68] is not repeated too soon, unless a subagent asks', async () => {
    const thrice = callsMany([{ name: 'digger' }, { name: QUERY }, { name: QUERY }]);
    const actors = cast({
      main: [callsMany([{ name: 'scout' }, { name: QUERY }, { name: QUERY }]), says('noted')],
      scout_a: [thrice, calls('finish', { text: 'found' })],
      digger_a: [calls('finish', { text: 'dug' })],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: ['scout', QUERY],
      guards: { team: { statusCooldownSeconds: 3600 } },
      agents: { scout: {}, digger: {} },
      prompts: { scout_a: { ...CHAT, tools: ['digger', QUERY, 'finish'] } },
    });
    const thread = await runtime.start('go');
    const [child] = await childrenOf(runtime, thread);
    const statusesOf = async (id = '') =>
      (await runtime.messages(id)).flatMap(({ role, tool_status: status }) =>
        role === 'tool' ? [status] : [],
      );
    expect(await statusesOf(thread)).toEqual(['success', 'success', 'error']);
    const refused = (await runtime.messages(thread)).findLast(({ role }) => role === 'tool');
    expect(refused?.content).toContain('status_query_cooldown: ');
    expect((await statusesOf(child?.threadId)).slice(0, 3)).toEqual(['success', 'success', 'success']);
  });
});
