/**
 * Both examples of Protolink's runtime page, run as a stranger runs them: a separate process, a real server, no key.
 */
import { describe, expect, it } from '@jest/globals';
import { runExample } from '../support/run-example.ts';

const typesOf = (lines: readonly string[]) => lines.flatMap((line) => /^\d+ ([\w.]+):/.exec(line)?.[1] ?? []);

describe('the documented examples', () => {
  it('[PL-04] runtime-policy-and-approvals: previewed, approved, run once; denied if the run is stricter', async () => {
    const lines = await runExample('protolink/runtime-policy-and-approvals.ts');
    expect(typesOf(lines)).toEqual([
      'task.status',
      'context.prepared',
      'llm.call.started',
      'llm.call.completed',
      'action.requested',
      'action.policy',
      'approval.required',
      'approval.decided',
      'action.started',
      'action.completed',
      'context.prepared',
      'llm.call.started',
      'llm.call.completed',
      'task.artifact',
      'task.status',
    ]);
    expect(lines.filter((line) => !/^\d+ /.test(line))).toEqual([
      'approval requested: update_record_status needs records.write',
      'preview: {"before":"draft","after":"published"}',
      'task: completed, record: published, approvals in the report: 2',
      'denied: The policy denies: records.write.',
      'record: published, asked 1 time',
    ]);
  }, 300_000);

  it('[PL-12] task-cancellation: one final canceled with its reason, and nothing committed', async () => {
    const lines = await runExample('protolink/task-cancellation.ts');
    expect(typesOf(lines).filter((type) => type === 'task.error')).toEqual([]);
    expect(typesOf(lines).slice(0, 1)).toEqual(['task.status']);
    expect(lines.slice(-2)).toEqual([
      'final: task.status canceled, reason: Stopped by user',
      'task: canceled, committed: []',
    ]);
  }, 300_000);
});
