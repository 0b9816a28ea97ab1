/**
 * Requirements of the Standard Agents spec (0.1.0): its runtime chapter, its definitions, and the surfaces of
 * ThreadState. Ids follow the sections and are never reused for another rule. A rule is shown by the tests whose titles
 * begin with its id; one that the runtime does not meet yet states what it waits for. Every id that a title cites has
 * its row.
 */
import type { Requirement } from './requirement.ts';
import { CODE_EXECUTION } from './requirements-13.ts';
import { STATE_STORAGE } from './requirements-14.ts';
import { AGENTICX_NAMES } from './requirements-agenticx.ts';
import { BUDGETS } from './requirements-budget.ts';
import { COMPACTION } from './requirements-compaction.ts';
import { RUN_CONTEXT } from './requirements-context.ts';
import { DEFINITIONS } from './requirements-definitions.ts';
import { FAMILY } from './requirements-family.ts';
import { HOOKS } from './requirements-hooks.ts';
import { HYGIENE } from './requirements-hygiene.ts';
import { LOOPS } from './requirements-loops.ts';
import { POLICY } from './requirements-policy.ts';
import { RUNS } from './requirements-runs.ts';
import { THREAD_STATE } from './requirements-state.ts';
import { TASKS } from './requirements-tasks.ts';
import { TEAM } from './requirements-team.ts';
import { MODEL_TIMEOUTS } from './requirements-timeouts.ts';
import { TURN_EVENTS } from './requirements-turn-events.ts';
import { CHAT_TURNS } from './requirements-turns.ts';

export const REQUIREMENTS: readonly Requirement[] = [
  {
    id: 'runtime 1',
    level: 'MUST',
    text: 'A thread runs one step at a time; results are stored before the loop continues.',
  },
  {
    id: 'runtime 2',
    level: 'MUST',
    text: 'A message, a queued message or a queued tool starts an idle thread, and waits behind a busy one.',
  },
  { id: 'runtime 2a', level: 'MUST', text: 'A scheduled effect starts a thread.' },
  {
    id: 'runtime 3',
    level: 'MUST',
    text: 'A step drains the queue, assembles the request, calls the model, stores the answer, runs tools, stores results and evaluates stops, in this order.',
  },
  {
    id: 'runtime 3.2',
    level: 'MUST',
    text: 'The request holds the rendered prompt, the filtered history, and the tools.',
  },
  {
    id: 'runtime 3.4',
    level: 'MUST',
    text: 'The answer, its calls and its usage are stored together before a tool runs.',
  },
  {
    id: 'runtime 3.7',
    level: 'MUST',
    text: 'Stop conditions are evaluated after each step, even if more input is queued.',
  },
  {
    id: 'runtime 4',
    level: 'MUST',
    text: 'The context is the rendered prompt, the filtered history, and every tool call with its result.',
  },
  {
    id: 'runtime 4a',
    level: 'MUST',
    text: 'In two-sided agents, own messages appear as assistant, those of the other side as user, without its tool calls.',
  },
  {
    id: 'runtime 5.1',
    level: 'MUST',
    text: 'Tool calls run one after another, in the order in which the model returned them.',
  },
  {
    id: 'runtime 5.1a',
    level: 'MAY',
    text: 'Extension: neighbouring calls of tools and subagents that say `parallel` run at once, and their results are stored in the returned order.',
  },
  { id: 'runtime 5.2', level: 'MUST', text: 'A tool error is stored as a result and never ends the loop.' },
  {
    id: 'runtime 5.3',
    level: 'MUST',
    text: 'Prompt tools and handoffs can be called like function tools.',
  },
  { id: 'runtime 5.3a', level: 'MUST', text: 'Subagents can be called like function tools.' },
  {
    id: 'runtime 6',
    level: 'SHOULD',
    text: 'Stops are evaluated in order: session tools, stopTool, stopOnResponse, limits.',
  },
  { id: 'runtime 6.2', level: 'SHOULD', text: 'stopTool ends the turn.' },
  {
    id: 'runtime 6.3',
    level: 'SHOULD',
    text: 'stopOnResponse ends the turn after an answer without tool calls.',
  },
  { id: 'runtime 6.4', level: 'MUST', text: 'Safety limits end an execution that no other rule ends.' },
  {
    id: 'runtime 9',
    level: 'MUST',
    text: 'The queue is durable and first in, first out; items are injected before the next model call, or start an idle thread.',
  },
  {
    id: 'runtime 10',
    level: 'MUST',
    text: 'terminate records its time, aborts running work and ends the descendants; afterwards everything that runs, queues, sends or changes is refused, and reading goes on.',
  },
  {
    id: 'runtime 11',
    level: 'MUST',
    text: 'A thread has one flow of execution; different threads run concurrently.',
  },
  {
    id: 'runtime 12',
    level: 'SHOULD',
    text: 'Model calls, tool calls and results, stops and terminations leave durable events.',
  },
  ...FAMILY,
  ...RUN_CONTEXT,
  ...BUDGETS,
  ...RUNS,
  ...POLICY,
  ...AGENTICX_NAMES,
  ...HYGIENE,
  ...COMPACTION,
  ...HOOKS,
  ...LOOPS,
  ...TASKS,
  ...TEAM,
  ...TURN_EVENTS,
  ...CHAT_TURNS,
  ...MODEL_TIMEOUTS,
  ...CODE_EXECUTION,
  ...STATE_STORAGE,
  {
    id: 'runtime 15',
    level: 'MUST',
    text: 'Everything together, on one family: one flow, order, results first, queued messages, copied files, code, values. Limits and the durable queue have rows of their own (6.4, 9).',
  },
  ...DEFINITIONS,
  ...THREAD_STATE,
];
