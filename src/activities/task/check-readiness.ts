/**
 * `checkTask`: gathers what a task must know before its loop begins. Its provider answers questions and acquires what
 * is missing. Questions that the provider leaves open are put to people, if the task has `asks`: each question is a
 * wait, and this activity runs again once they are over.
 * - The questions are in the log before their waits are open.
 */
import { randomUUID } from 'node:crypto';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import type { TaskVerdict } from '../../core/task/control.ts';
import { readDecision } from '../../core/task/decision.ts';
import {
  decideReadiness,
  type KnowledgeQuestion,
  type KnowledgeRequirement,
  reportKnowledge,
  toPlans,
  toQuestions,
  withAnswers,
} from '../../core/task/knowledge.ts';
import { parseRequirement } from '../../core/task/requirement.ts';
import type { ReadinessOutcome, TaskStepInput } from '../../core/thread/task-step.ts';
import type { TaskEvent } from '../../store/task/task-record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';
import { failTask, openFrame, type PhaseResult, runPhase, type TaskFrame } from './task-frame.ts';

type Answers = Readonly<Record<string, unknown>>;

/** Thrown if a phase of the provider fails: the task ends. */
class ReadinessFailed extends Error {
  override readonly name = 'ReadinessFailed';
}

export async function checkTask(
  dependencies: ActivityDependencies,
  input: TaskStepInput,
): Promise<ReadinessOutcome> {
  const frame = await openFrame(dependencies, input);
  if (frame.loop.task.verdict) return { kind: 'stops' };
  if (frame.loop.task.preflight === 'over') return { kind: 'ready' };
  try {
    return await runCheck(dependencies, frame);
  } catch (error) {
    if (!(error instanceof ReadinessFailed)) throw error;
    const { message } = error;
    const failed = await failTask(
      dependencies.store,
      { run: frame.run, step: 0 },
      { phase: 'readiness', message },
    );
    return { kind: failed === 'terminated' ? failed : 'stops' };
  }
}

async function runCheck(dependencies: ActivityDependencies, frame: TaskFrame): Promise<ReadinessOutcome> {
  const { store } = dependencies;
  const { definition, run, loop } = frame;
  const { task } = loop;
  const { knowledge: provider = {}, adapter, minimumReadinessScore } = definition;
  const { buildReadiness, refreshReadiness } = provider;
  const given = buildReadiness
    ? readRequirements(await askAdapter(frame, () => buildReadiness({ task: task.spec })))
    : task.requirements;
  const first = reportKnowledge(given, Date.now());
  const questions = toQuestions(first);
  const asked = await collectAnswers(dependencies, frame, { questions, requirements: given });
  if ('kind' in asked) return asked;
  const { answers, events } = asked;
  const { evidence, told } = await acquireKnowledge(frame, given, answers);
  const found = withEvidence(withAnswers(given, answers), evidence);
  const isNew = Object.keys(answers).length + Object.keys(evidence).length > 0;
  const requirements =
    isNew && refreshReadiness
      ? readRequirements(
          await askAdapter(frame, () => refreshReadiness({ task: task.spec, answers, evidence })),
        )
      : found;
  const report = reportKnowledge(requirements, Date.now());
  const decision = decideReadiness(report, minimumReadinessScore);
  const { requirements: _, ...knowledge } = report;
  const again: readonly TaskEvent[] = isNew ? [{ type: 'task.checking', data: {} }] : [];
  const verdict =
    decision.kind === 'blocked' ? await blockTask(frame, report, adapter.onKnowledgeBlocked) : undefined;
  const kept = await store.tasks.saveReadiness({
    ...run,
    requirements,
    answers,
    events: [...events, ...told, ...again, { type: 'task.readiness', data: { decision, knowledge } }],
    preflight: 'over',
    verdict,
  });
  if (kept.kind === 'terminated') return { kind: 'terminated' };
  return { kind: verdict ? 'stops' : 'ready' };
}

interface Questioned {
  readonly questions: readonly KnowledgeQuestion[];
  readonly requirements: readonly KnowledgeRequirement[];
}

/** Answers of the provider, then of people. */
async function collectAnswers(
  dependencies: ActivityDependencies,
  frame: TaskFrame,
  { questions, requirements }: Questioned,
): Promise<ReadinessOutcome | { readonly answers: Answers; readonly events: readonly TaskEvent[] }> {
  const { definition, loop, run } = frame;
  const { task } = loop;
  const before: readonly TaskEvent[] = [{ type: 'task.checking', data: {} }];
  const asked: TaskEvent = { type: 'task.asked', data: { questions } };
  const answerQuestions = definition.knowledge?.answerQuestions;
  const known = { ...task.answers };
  if (task.preflight === 'due' && answerQuestions && questions.length > 0)
    Object.assign(known, await askAdapter(frame, () => answerQuestions({ task: task.spec, questions })));
  const open = definition.asks ? questions.filter(({ requirementId }) => known[requirementId] == null) : [];
  const events: readonly TaskEvent[] = task.preflight === 'asked' ? [] : before;
  if (open.length === 0) {
    const isAsked = answerQuestions !== undefined && questions.length > 0 && task.preflight === 'due';
    return { answers: known, events: isAsked ? [...events, asked, answeredBy(known)] : events };
  }
  // Logged before the waits are opened. A repeated call logs it once.
  const { store } = dependencies;
  const kept = await store.tasks.saveReadiness({
    ...run,
    requirements,
    answers: known,
    preflight: 'asked',
    events: [...before, asked],
  });
  if (kept.kind === 'terminated') return { kind: 'terminated' };
  // Set before the waits are opened: whoever sees a wait must see a task that waits.
  await store.tasks.rest({ ...run, waits: true });
  const waits: (Wait | undefined)[] = [];
  for (const question of open) waits.push(await openQuestion(dependencies, frame, question));
  const waiting = waits.find((wait) => wait?.state === 'open');
  if (waiting) {
    await dependencies.probe?.('task_asked');
    return toWaitingCall(waiting);
  }
  if (waits.includes(undefined)) return { kind: 'terminated' };
  const entries = open.map(({ requirementId }, index) => [requirementId, answerOf(waits[index])]);
  const answers = { ...known, ...Object.fromEntries(entries.filter(([, value]) => value != null)) };
  return { answers, events: [answeredBy(answers)] };
}

function answeredBy(answers: Answers): TaskEvent {
  return { type: 'task.answered', data: { requirementIds: Object.keys(answers) } };
}

/** Undefined if the task is over. */
async function openQuestion(
  { store }: ActivityDependencies,
  { run, signal, definition }: TaskFrame,
  { requirementId, question, reason, answerType, importance, impactIfUnknown }: KnowledgeQuestion,
): Promise<Wait | undefined> {
  const { waitTimeoutMs: expiresInMs } = definition;
  const opened = await retryWhileUnavailable(signal, () =>
    store.waits.open({
      id: randomUUID(),
      threadId: run.threadId,
      key: `knowledge:${requirementId}`,
      kind: 'question',
      name: requirementId,
      summary:
        answerType === 'credential' ? `${question} (the name of a variable, never its value)` : question,
      data: { requirementId, reason, answerType, importance, impactIfUnknown },
      blocks: true,
      expiresInMs,
    }),
  );
  return 'wait' in opened ? opened.wait : undefined;
}

function answerOf(wait: Wait | undefined): unknown {
  const { answer } = wait ?? {};
  return answer && 'value' in answer ? answer.value : undefined;
}

type Evidence = Readonly<Record<string, readonly string[]>>;

async function acquireKnowledge(
  frame: TaskFrame,
  given: readonly KnowledgeRequirement[],
  answers: Answers,
): Promise<{ readonly evidence: Evidence; readonly told: readonly TaskEvent[] }> {
  const executeAcquisitionPlans = frame.definition.knowledge?.executeAcquisitionPlans;
  const plans = toPlans(reportKnowledge(withAnswers(given, answers), Date.now()));
  if (!executeAcquisitionPlans || plans.length === 0) return { evidence: {}, told: [] };
  const { spec } = frame.loop.task;
  const evidence = (await askAdapter(frame, () => executeAcquisitionPlans({ task: spec, plans }))) ?? {};
  const evidenceIds = Object.values(evidence).flat();
  return {
    evidence,
    told: [
      { type: 'task.acquiring', data: { plans } },
      { type: 'task.acquired', data: { evidenceIds } },
    ],
  };
}

function withEvidence(
  requirements: readonly KnowledgeRequirement[],
  evidence: Evidence,
): readonly KnowledgeRequirement[] {
  const found = Object.fromEntries(Object.entries(evidence).filter(([, ids]) => ids.length > 0));
  return withAnswers(requirements, found).map((each) => {
    const ids = found[each.id];
    return ids ? { ...each, evidenceIds: [...new Set([...each.evidenceIds, ...ids])] } : each;
  });
}

async function blockTask(
  frame: TaskFrame,
  knowledge: ReturnType<typeof reportKnowledge>,
  onKnowledgeBlocked: TaskFrame['definition']['adapter']['onKnowledgeBlocked'],
): Promise<TaskVerdict> {
  const blocked: TaskVerdict = {
    stoppedBy: 'readiness',
    pass: false,
    reason: `knowledge readiness blocked: ${knowledge.blockingMissing.join(', ')}`,
  };
  if (!onKnowledgeBlocked) return blocked;
  const given = { knowledge, questions: toQuestions(knowledge), acquisitionPlans: toPlans(knowledge) };
  const read = readDecision(
    await askAdapter(frame, () => onKnowledgeBlocked({ task: frame.loop.task.spec, ...given })),
  );
  if (!read.ok) throw new ReadinessFailed(`onKnowledgeBlocked did not return a decision: ${read.reason}`);
  if (read.decision.kind !== 'stop') return blocked;
  const { pass, reason, score, outcome } = read.decision;
  return { stoppedBy: pass ? 'policy' : 'readiness', pass, reason, score, outcome };
}

async function askAdapter<Value>(frame: TaskFrame, body: () => Value | Promise<Value>): Promise<Value> {
  const asked: PhaseResult<Value> = await runPhase(frame, 'readiness', body);
  if (asked.ok) return asked.value;
  throw new ReadinessFailed(asked.message);
}

function readRequirements(given: unknown): readonly KnowledgeRequirement[] {
  if (!Array.isArray(given)) throw new ReadinessFailed('requirements must be a list');
  return given.map((each) => {
    const parsed = parseRequirement(each);
    if (typeof parsed === 'string') throw new ReadinessFailed(`a requirement ${parsed}`);
    return parsed;
  });
}
