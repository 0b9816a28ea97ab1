/** Converts the end of a task to a report for the agent or code that started it. Pure. */

import type { TaskEnd, TaskVerdict } from '../task/control.ts';
import type { SubagentReport } from './subagent-report.ts';

const KINDS: Readonly<Record<TaskEnd, SubagentReport['kind']>> = {
  completed: 'result',
  failed: 'failure',
  blocked: 'failure',
  aborted: 'canceled',
};

/** The content is JSON, for models and programs alike. */
export function describeEnd(taskId: string, status: TaskEnd, verdict: TaskVerdict): SubagentReport {
  const { pass, reason, score, outcome } = verdict;
  const fields = {
    taskId,
    status,
    pass,
    reason,
    ...(score === undefined ? {} : { score }),
    ...(outcome === undefined ? {} : { outcome }),
  };
  return { kind: KINDS[status], content: JSON.stringify(fields), attachments: [] };
}
