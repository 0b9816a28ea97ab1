/** A manifest of a program: what it requires of its tasks, and what they score. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  decideKnowledgeReadiness,
  defineAgent,
  type GivenAdapter,
  type ManifestInput,
  reportKnowledge,
  runAgentTask,
  scoreAgentRun,
} from '../../src/faces/tangle/tasks.ts';

const workflowBundle = process.env.EVERTHREAD_TEST_BUNDLE as string;

const RUBRIC: NonNullable<ManifestInput['rubric']> = {
  dimensions: [
    { id: 'named', weight: 0.75, score: ({ output, persona }) => (output === persona ? 1 : 0) },
    { id: 'short', weight: 0.25, score: ({ output }) => (String(output).length < 10 ? 1 : 0) },
  ],
};
const define = (more: Partial<ManifestInput> = {}) =>
  defineAgent({
    id: 'echo',
    repoRoot: import.meta.dirname,
    surfaces: {},
    rubric: RUBRIC,
    run: 'echo',
    ...more,
  });

function run(agent: ReturnType<typeof define>, acted: unknown[] = []) {
  const adapter: GivenAdapter = {
    observe: ({ history }) => history.length,
    decide: ({ state }) =>
      state === 0
        ? { kind: 'act', action: 'go' }
        : { kind: 'stop', pass: true, reason: 'said', outcome: 'Hello.' },
    act: (action) => void acted.push(action),
  };
  const store = `sqlite:${join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID())}.db?synchronous=normal`;
  return runAgentTask({ agent, adapter, store, workflowBundle, task: { intent: 'measure' } });
}

describe('a manifest of a program', () => {
  it('[TG-33] scores the end of its task by its rubric', async () => {
    const agent = define();
    const { status, runRecords } = await run(agent);
    expect(status).toBe('completed');
    const scored = { scores: { named: 0, short: 1 }, score: 0.25 };
    expect(runRecords).toMatchObject([{ kind: 'rubric', agentId: 'echo', manifest: agent.hash, ...scored }]);
    expect(await scoreAgentRun(agent, { output: 'Hello.', persona: 'ada' })).toEqual(scored);
  }, 60_000);

  it('[TG-33] requires its knowledge before its task acts', async () => {
    const agent = define({
      knowledge: [{ id: 'token', description: 'The token.', importance: 'blocking' }],
      rubric: { dimensions: [] },
    });
    const acted: unknown[] = [];
    const { status, questions, runRecords } = await run(agent, acted);
    expect([status, acted, runRecords]).toEqual(['blocked', [], []]);
    expect(questions).toMatchObject([{ requirementId: 'token' }]);
    expect(decideKnowledgeReadiness(reportKnowledge(agent.knowledge, Date.now()))).toMatchObject({
      kind: 'blocked',
      gaps: ['token'],
    });
    expect(await scoreAgentRun(agent, { output: 'Hello.', persona: 'ada' })).toBeNull();
  }, 60_000);

  it('[TG-33] refuses a score that is no number from 0 to 1, and names its dimension', async () => {
    const wild = define({ rubric: { dimensions: [{ id: 'wild', weight: 1, score: () => 7 }] } });
    await expect(scoreAgentRun(wild, { output: '', persona: null })).rejects.toThrow('"wild"');
  });
});
