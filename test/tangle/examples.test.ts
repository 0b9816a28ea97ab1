/** Examples of Tangle's page, run as a stranger runs them: a separate process, a real server, no key. */
import { describe, expect, it } from '@jest/globals';
import { runExample } from '../support/run-example.ts';

describe('the documented examples', () => {
  it('[TG-14] chat-handler: two turns, each stored once, the second requested twice', async () => {
    const turn = 'session.run.started message.started . llm_call result session.run.completed';
    // The number of pieces of a text depends on timing.
    const lines = (await runExample('tangle/chat-handler.ts')).map((line) => line.replaceAll('. .', '.'));
    expect(lines).toEqual([turn, turn, turn, 'kept: Hello, Ada. | You are welcome.']);
  }, 300_000);

  it('[TG-31] agent-into-reviewer: one agent reviews what another streams; a bad draft fails with its reason', async () => {
    expect(await runExample('tangle/agent-into-reviewer.ts')).toEqual([
      'thorough: completed, pass true',
      'hasty: failed, pass false, the draft fails: long-enough, surfaces-missing',
    ]);
  }, 300_000);

  it('[TG-03] basic-task: counts to three, and passes', async () => {
    const lines = await runExample('tangle/basic-task.ts');
    expect(lines.slice(0, -1)).toEqual([0, 1, 2].map((n) => `step ${n}: done`));
    expect(lines.at(-1)).toMatch(/^completed: .*, score 1$/);
  }, 300_000);

  it('[TG-27] model-resolution: the environment overrides blanks; unknown and malformed models are refused', async () => {
    expect(await runExample('tangle/model-resolution.ts')).toEqual([
      'picked: anthropic/haiku, from env',
      'anthropic/haiku: accepted',
      'house/own: accepted',
      'openai/gpt-9: refused',
      'rm -rf: refused',
    ]);
  }, 60_000);

  it('[TG-29] runtime-run: one row, from start to end, with its cost', async () => {
    expect(await runExample('tangle/runtime-run.ts')).toEqual([
      'run-1: running',
      'run-1: completed',
      'calls: 2, in: 1800, out: 390, cost: $0.0061, rows: 1',
    ]);
  }, 60_000);

  it('sandbox-stream-backend: the events of a box, its text once', async () => {
    expect(
      (await runExample('tangle/sandbox-stream-backend.ts')).map((line) => JSON.parse(line).type),
    ).toEqual(['text_delta', 'text_delta', 'tool_call', 'tool_result']);
  }, 60_000);
});
