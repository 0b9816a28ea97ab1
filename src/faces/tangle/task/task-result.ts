/** The result of `runAgentTask`: the end of a task, built from its record and its steps. */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import type { TaskRunRecord, TaskRuntimeError, TaskStep } from '../../../core/author/task.ts';
import { toHistory } from '../../../core/author/task-history.ts';
import type { ControlEval, TaskEnd, TaskVerdict } from '../../../core/task/control.ts';
import {
  type AcquisitionPlan,
  type KnowledgeQuestion,
  type KnowledgeReport,
  reportKnowledge,
  toPlans,
  toQuestions,
} from '../../../core/task/knowledge.ts';
import type { AgentTaskSpec } from '../../../core/task/spec.ts';

export interface AgentTaskResult {
  readonly task: AgentTaskSpec;
  readonly status: TaskEnd;
  readonly knowledge: KnowledgeReport;
  /** Questions about the knowledge that is still missing. */
  readonly questions: readonly KnowledgeQuestion[];
  readonly acquisitionPlans: readonly AcquisitionPlan[];
  /** Answers by requirement. */
  readonly userAnswers: Readonly<Record<string, unknown>>;
  readonly acquiredEvidenceIds: readonly string[];
  readonly control: TaskVerdict & {
    readonly runId: string;
    readonly intent: string;
    readonly completed: boolean;
    /** The first 1,000 steps, as an adapter reads them in `history`; `client.tasks.listSteps` returns the others. */
    readonly steps: readonly TaskStep[];
    readonly finalState: unknown;
    readonly finalEvals: readonly ControlEval[];
    readonly wallMs: number;
    readonly spentCostUsd: number;
    readonly runtimeErrors: readonly TaskRuntimeError[];
  };
  readonly runRecords: readonly TaskRunRecord[];
}

const MAX_STEPS = 1000;

export async function readResult({ tasks }: RuntimeClient, id: string): Promise<AgentTaskResult> {
  const record = await tasks.get(id);
  const { verdict, spec, requirements, answers, status } = record;
  if (!verdict || status === 'running' || status === 'waiting')
    throw new Error(`The task "${id}" has not ended.`);
  // One more: what was observed after the last step.
  const stored = await tasks.listSteps(id, 0, MAX_STEPS + 1);
  const [last = stored.at(-1)] = await tasks.listSteps(id, record.steps, 1);
  const knowledge = reportKnowledge(requirements, Date.now());
  return {
    task: spec,
    status,
    knowledge,
    questions: toQuestions(knowledge),
    acquisitionPlans: toPlans(knowledge),
    userAnswers: answers,
    acquiredEvidenceIds: [...new Set(requirements.flatMap(({ evidenceIds }) => evidenceIds))],
    control: {
      ...verdict,
      runId: id,
      intent: spec.intent,
      completed: status === 'completed',
      steps: toHistory(stored, Math.min(record.steps, MAX_STEPS)),
      finalState: last?.state ?? null,
      finalEvals: last?.evals ?? [],
      wallMs: record.wallMs,
      spentCostUsd: record.spentCostUsd,
      runtimeErrors: record.errors,
    },
    runRecords: record.records ?? [],
  };
}
