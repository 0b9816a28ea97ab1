/**
 * Stages of a call that starts a task (docs/tasks.md): the task is a child of the thread, like a subagent, and its end
 * is the result of the call. The task's id is derived from the call, so the same call again finds the same task.
 */

import { end, go } from '../../author/policy/gate.ts';
import { createIds } from '../../author/state/id.ts';
import { refuseCall } from '../../author/tool/check-arguments.ts';
import { checkStoredArguments } from '../../author/tool/check-schema.ts';
import { describeArguments } from '../../core/answer/repair-arguments.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import { findManifest, firstKnowledge } from '../../core/project/new-task.ts';
import { parseTaskSpec } from '../../core/task/spec.ts';
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import { deriveThreadId } from '../../core/thread/thread-id.ts';
import type { CreateChild } from '../../store/family/family-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { findEntry, refuseUnlisted } from '../tool-gate/resolve-call.ts';
import type { SubagentCall } from './callee.ts';
import { refuseInput } from './input.ts';
import { contextForChild } from './make.ts';

interface TaskCall extends SubagentCall {
  /** Name of a task in agents/tasks. */
  readonly task: string;
}

export function resolveTask({ registry }: ActivityDependencies, { execution }: SubagentCall) {
  const { name } = execution.call;
  const task = registry().tools.get(name)?.startsTask;
  if (task === undefined) return refuseCall(`Tool not found: ${name}`);
  const refusal = refuseUnlisted(execution.call, findEntry(registry(), execution));
  return refusal === undefined ? go({ task }) : refuseCall(refusal);
}

interface Inputs {
  readonly inputs: Readonly<Record<string, unknown>>;
}

export async function readInputs({ registry }: ActivityDependencies, { call, task }: TaskCall) {
  const { name, arguments: text } = call.begun.call;
  const given = parseArguments(text);
  if (!given) return refuseInput(name, describeArguments(text));
  const checked = await checkStoredArguments(registry().tasks.get(task)?.requiredSchema, given);
  return checked.ok
    ? go({ inputs: checked.value })
    : refuseInput(name, `its inputs do not match the task's schema: ${checked.problems}`);
}

export async function makeTask(
  { store, registry, probe }: ActivityDependencies,
  { call, task, inputs }: TaskCall & Inputs,
) {
  const {
    key: { step, index },
    begun: { thread },
  } = call;
  const id = deriveThreadId(task, createIds(store, `${thread.id}:${step}:${index}:child`)());
  const parsed = parseTaskSpec({ id, intent: task, inputs });
  if (!parsed.ok) return refuseInput(call.begun.call.name, parsed.reason);
  const project = registry();
  const { spec } = parsed;
  const begins = { name: task, spec, scenarioId: null, ...firstKnowledge(project, task, spec) };
  const context = contextForChild(project, call);
  const child = {
    ...CHILD,
    threadId: TASK_ID_PREFIX + id,
    agent: task,
    description: project.tasks.get(task)?.toolDescription ?? `The task ${task}.`,
    context,
  };
  const created = await store.children.create({
    parentId: thread.id,
    child,
    call: { step, index },
    waits: true,
    inherits: () => false,
    given: [],
    task: { begins, manifest: findManifest(project, task)?.hash ?? null },
  });
  switch (created.kind) {
    case 'terminated':
      return end(created);
    case 'full':
      return refuseCall(`${task}: the limit of ${created.limit} is reached.`);
    case 'refused':
      return refuseCall(`${task}: ${created.reason}`);
    case 'created':
      await probe?.('subagent_created');
      return go({ outcome: { kind: 'child', child: created.start, start: true, wait: true } });
  }
}

/** Fields of a child that is a task: it makes one report and receives no messages. */
const CHILD = {
  name: null,
  title: null,
  arguments: {},
  resumable: false,
  blocking: true,
  explicit: false,
  hears: 'a',
  messages: [],
} as const satisfies Omit<CreateChild['child'], 'threadId' | 'agent' | 'description'>;
