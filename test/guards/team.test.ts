/** The limits of a team: subagents at work at once, subagents of a turn in all, and their depth. */
import { describe, expect, it } from '@jest/globals';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import { findTeamLimit, narrowTeam, toChildTeamGuard, toTeamGuard } from '../../src/core/guard/team.ts';
import { definePrompt } from '../../src/definitions/index.ts';
import { calls, callsMany, type RecordedRequest, says } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';
import {
  cast,
  childrenOf,
  create,
  familyRegistry,
  familyRuntime,
  heldTool,
  lastResult,
  RESUMABLE,
  settled,
} from '../support/subagent-project.ts';

const BESIDE = { name: 'scout', blocking: false };
const CHAT = { includeChat: true, includePastTools: true };

describe('the limits of a team', () => {
  it('[AX-121] have the defaults of the spec, are at least one, and narrow towards descendants', () => {
    const page = {
      ...{ maxConcurrent: 4, maxChildren: 5, maxDepth: 2 },
      ...{ statusBudget: 2, statusCooldownSeconds: 8 },
    };
    expect(toTeamGuard({})).toEqual(page);
    expect(toTeamGuard({ maxChildren: 0 })).toEqual({ ...page, maxChildren: 1 });
    expect(toChildTeamGuard(page)).toEqual({ ...page, maxDepth: 1 });
    expect(narrowTeam({ ...page, maxChildren: 9 }, toChildTeamGuard(page))).toEqual({ ...page, maxDepth: 1 });
    expect([
      narrowTeam(page, undefined),
      narrowTeam(undefined, page),
      narrowTeam(undefined, undefined),
    ]).toEqual([page, page, undefined]);
  });

  it('[AX-121] are checked in order: concurrent ones, the depth, the total', () => {
    const none = { maxConcurrent: 1, maxChildren: 1, maxDepth: 0 };
    const full = { working: 1, made: 1 };
    expect(findTeamLimit(none, full)).toBe('max_concurrency_reached');
    expect(findTeamLimit(none, { ...full, working: 0 })).toBe('max_spawn_depth_reached');
    expect(findTeamLimit({ ...none, maxDepth: 1 }, { ...full, working: 0 })).toBe('max_children_reached');
    expect(findTeamLimit(none, { ...full, working: 0 }, { speaks: true })).toBeUndefined();
  });

  const newest = ({ messages }: RecordedRequest) => String(messages.at(-1)?.content);
  const scouts = (count: number) => callsMany(Array.from({ length: count }, () => ({ name: 'scout' })));

  it('[AX-121] cap concurrent subagents: the model reads why, and may create one when another is done', async () => {
    const { wait, release } = heldTool();
    const actors = cast({
      main: (request) => (/^[0-9]$/.test(newest(request)) ? scouts(Number(newest(request))) : says('noted')),
      scout_a: ({ messages }) =>
        messages.some(({ role }) => role === 'tool') ? calls('finish', { text: 'found' }) : calls('wait'),
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [BESIDE],
      guards: { team: { maxConcurrent: 2 } },
      prompts: { scout_a: { ...CHAT, tools: ['wait', 'finish'] } },
      tools: { wait },
    });
    const thread = await runtime.start('3');
    expect(await childrenOf(runtime, thread)).toHaveLength(2);
    expect(await lastResult(runtime, thread)).toMatchObject({
      tool_status: 'error',
      content: expect.stringContaining('max_concurrency_reached: 2 subagents of yours may work at once'),
    });
    release();
    await settled(runtime, thread, 2);
    await runtime.say(thread, '1');
    expect(await childrenOf(runtime, thread)).toHaveLength(3);
    await settled(runtime, thread, 3);
  });

  it('[AX-121] refuse a message to an idle one while the maximum is working', async () => {
    const { wait, release } = heldTool();
    const actors = cast({
      main: (request) => {
        const said = newest(request);
        if (said === 'make') return calls('subagent_create', create('look'));
        if (said.startsWith('{')) return calls('subagent_message', JSON.parse(said));
        return says('noted');
      },
      scout_a: (request) => (newest(request) === 'hold' ? calls('wait') : calls('finish', { text: 'found' })),
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ ...BESIDE, ...RESUMABLE }],
      guards: { team: { maxConcurrent: 1 } },
      prompts: { scout_a: { ...CHAT, tools: ['wait', 'finish'] } },
      tools: { wait },
    });
    const thread = await runtime.start('make');
    await settled(runtime, thread, 1);
    await runtime.say(thread, 'make');
    await settled(runtime, thread, 2);
    const [first, second] = await childrenOf(runtime, thread);
    const tell = (referenceId = '', message = '') =>
      runtime.say(thread, JSON.stringify({ referenceId, message, attachments: [] }));
    await tell(first?.threadId, 'hold');
    await tell(second?.threadId, 'look again');
    expect(await lastResult(runtime, thread)).toMatchObject({
      tool_status: 'error',
      content: expect.stringContaining('subagent_message: max_concurrency_reached: one subagent of yours'),
    });
    await tell(first?.threadId, 'and there');
    expect(await lastResult(runtime, thread)).toMatchObject({ tool_status: 'success' });
    release();
    await settled(runtime, thread, 3);
  });

  it('[AX-121] cap a turn by the definitions of its start; the next one starts again', async () => {
    const actors = cast({
      main: (request) => {
        if (/^[0-9]$/.test(newest(request))) return scouts(Number(newest(request)));
        // The first turn tries again in its second step.
        return request.messages.filter(({ role }) => role === 'tool').length === 2
          ? scouts(1)
          : says('noted');
      },
      scout_a: () => calls('finish', { text: 'found' }),
    });
    let maxChildren = 1;
    const project = () =>
      familyRegistry({ cast: actors, entries: ['scout'], guards: { team: { maxChildren } } });
    const runtime = await testRuntime({
      model: actors.model,
      registry: project,
      probe: (point) => {
        if (point === 'subagent_created') maxChildren = 2;
      },
    });
    const thread = await runtime.start('2');
    expect(await childrenOf(runtime, thread)).toHaveLength(1);
    const refused = (await runtime.messages(thread)).filter(({ tool_status }) => tool_status === 'error');
    expect(refused.map(({ content }) => content)).toEqual([
      expect.stringContaining('max_children_reached: a turn of yours'),
      expect.stringContaining('max_children_reached: a turn of yours'),
    ]);
    await runtime.say(thread, '3');
    expect(await childrenOf(runtime, thread)).toHaveLength(3);
    expect((await lastResult(runtime, thread))?.content).toContain('2 subagents in total');
  });

  it('[AX-121] a subagent whose worker was lost is created once, and counts once', async () => {
    const actors = cast({
      main: (request) => (newest(request) === 'go' ? scouts(2) : says('noted')),
      scout_a: () => calls('finish', { text: 'found' }),
    });
    let lost = 0;
    const probe = (point: FaultPoint) => {
      if (point === 'subagent_created' && lost++ === 0) throw new Error('the worker is lost');
    };
    const runtime = await familyRuntime({
      cast: actors,
      entries: ['scout'],
      guards: { team: { maxChildren: 2, maxConcurrent: 1 } },
      runtime: { probe },
    });
    const thread = await runtime.start('go');
    const results = (await runtime.messages(thread)).filter(({ role }) => role === 'tool');
    expect(results.map(({ content }) => content)).toEqual(['found', 'found']);
    expect(await childrenOf(runtime, thread)).toHaveLength(2);
    expect(lost).toBeGreaterThan(1);
  });

  it('[AX-121] no descendant exceeds the depth of the first agent, whatever its own definitions', async () => {
    const actors = cast({
      main: [calls('scout'), says('noted')],
      scout_a: [calls('digger'), calls('finish', { text: 'alone' })],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: ['scout'],
      guards: { team: { maxDepth: 1 } },
      agents: { scout: { guards: { team: { maxDepth: 9 } } }, digger: {} },
      prompts: { scout_a: { ...CHAT, tools: ['digger', 'finish'] } },
    });
    const thread = await runtime.start('go');
    const [child] = await childrenOf(runtime, thread);
    const refused = actors.of('scout_a')[1]?.messages.at(-1);
    expect(refused?.content).toContain('max_spawn_depth_reached');
    expect(await childrenOf(runtime, child?.threadId ?? '')).toEqual([]);
    expect(await lastResult(runtime, thread)).toMatchObject({ content: 'alone' });
  });

  it('are refused in a prompt, since a team belongs to its agent', () => {
    const define = () =>
      definePrompt({
        name: 'talk',
        toolDescription: 'talks',
        prompt: 'Talk.',
        model: 'scripted',
        guards: { team: {} } as never,
      });
    expect(define).toThrow('team');
  });
});
