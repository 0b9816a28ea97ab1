/** The team manager of AgenticX's page: its view of subagents, and how one that has used up its rounds is resumed. */
import { describe, expect, it } from '@jest/globals';
import { statusQueryLimitsOf, TeamManager } from '../../src/faces/agenticx/index.ts';
import { calls, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { cast, childrenOf, familyRuntime, lastResult } from '../support/subagent-project.ts';

const AT = calls('progress', { at: 'work' });

describe('a team manager', () => {
  it('[AX-68] reads the limits of status queries as AgenticX’s server does', () => {
    const read = (budget?: string, seconds?: string) => {
      const { statusBudget, statusCooldownSeconds } = statusQueryLimitsOf({
        AGX_STATUS_QUERY_BUDGET_PER_TURN: budget,
        AGX_STATUS_QUERY_COOLDOWN_SECONDS: seconds,
      });
      return [statusBudget, statusCooldownSeconds];
    };
    expect([read(), read('x', 'y'), read('0', '-3'), read('5', '0.5')]).toEqual([
      [2, 8],
      [2, 8],
      [1, 0],
      [5, 0.5],
    ]);
  });

  it('[AX-122] shows a paused subagent, releases it, and messages it when it is paused again', async () => {
    const actors = cast({
      main: [calls('scout'), says('thank you')],
      scout_a: [...Array.from({ length: 20 }, () => AT), calls('finish', { text: 'found it' })],
    });
    const family = await familyRuntime({
      cast: actors,
      entries: ['scout'],
      agents: { scout: { guards: { rounds: { max: 10 } } } },
    });
    const { client } = family;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    const team = new TeamManager(client, threadId);
    const pausedAfter = (rounds: number) =>
      eventually(`the pause after ${rounds} rounds`, async () => {
        const [row] = await team.querySubagentStatus();
        return row?.status === 'paused' && actors.of('scout_a').length === rounds ? row : undefined;
      });
    const row = await pausedAfter(10);
    const [child] = await childrenOf(family, threadId);
    const { agent_id: agentId } = row;
    expect(row).toEqual({ agent_id: child?.threadId, role: 'scout', name: null, depth: 1, status: 'paused' });
    await expect(new TeamManager(client, agentId).resumeSubagent(agentId)).rejects.toMatchObject({
      code: 'ThreadNotFound',
    });
    expect(await team.resumeSubagent(agentId, 'ada')).toBe(true);
    await pausedAfter(20);
    await team.sendMessageToSubagent(agentId, 'come to an end');
    await eventually('the result', async () => (await lastResult(family, threadId)) !== undefined);
    await client.waitForIdle(threadId);
    expect((await lastResult(family, threadId))?.content).toContain('found it');
    expect(await team.resumeSubagent(agentId)).toBe(false);
    await expect(team.cancelSubagent('another')).rejects.toMatchObject({ code: 'ThreadNotFound' });
  });
});
