/**
 * What the Standard Agents spec (0.1.0) asks for: its runtime chapter, and of its definitions what belongs
 * to code execution, files and env. Ids follow the sections and are never given to another rule. A rule is shown by the tests whose titles
 * begin with its id; one that the runtime does not meet yet says what it waits for.
 */
import type { Requirement } from './requirement.ts';
import { CODE_EXECUTION } from './requirements-13.ts';
import { STATE_STORAGE } from './requirements-14.ts';

const FAMILY = 'subagents';
const STATE = 'the rest of ThreadState';

export const REQUIREMENTS: readonly Requirement[] = [
  {
    id: 'runtime 1',
    level: 'MUST',
    text: 'One step at a time on a thread; results are kept before anything goes on.',
  },
  {
    id: 'runtime 2',
    level: 'MUST',
    text: 'A message, a queued message or a queued tool starts an idle thread, and waits behind a busy one.',
  },
  { id: 'runtime 2a', level: 'MUST', text: 'A scheduled effect starts a thread.', waitsFor: STATE },
  {
    id: 'runtime 3',
    level: 'MUST',
    text: 'A step drains, assembles, asks, keeps the answer, runs tools, keeps results, evaluates stops: in this order.',
  },
  {
    id: 'runtime 3.2',
    level: 'MUST',
    text: 'The request holds the rendered prompt, the filtered history, and the tools.',
  },
  {
    id: 'runtime 4',
    level: 'MUST',
    text: 'The context is the rendered prompt, the filtered history, and every tool call with its result.',
  },
  {
    id: 'runtime 4a',
    level: 'MUST',
    text: 'For two sides: own messages as assistant, the other side as user, its tool calls hidden.',
    waitsFor: 'two sides',
  },
  { id: 'runtime 5.1', level: 'MUST', text: 'Tool calls run one after another in the returned order.' },
  { id: 'runtime 5.2', level: 'MUST', text: "A tool's error is a stored result and never ends the loop." },
  {
    id: 'runtime 5.3',
    level: 'MUST',
    text: 'Prompt tools and agent tools can be called.',
    waitsFor: `${STATE}, ${FAMILY}`,
  },
  {
    id: 'runtime 6',
    level: 'SHOULD',
    text: 'Stops are evaluated in order: session tools, stopTool, stopOnResponse, limits.',
  },
  { id: 'runtime 6.2', level: 'SHOULD', text: 'stopTool ends the turn.' },
  { id: 'runtime 6.3', level: 'SHOULD', text: 'stopOnResponse ends the turn at an answer without calls.' },
  { id: 'runtime 6.4', level: 'MUST', text: 'Safety limits end what nothing else does.' },
  {
    id: 'runtime 7',
    level: 'MUST',
    text: 'Subagents: children with parent linkage, a registry, lifecycle tools.',
    waitsFor: FAMILY,
  },
  {
    id: 'runtime 8',
    level: 'MUST',
    text: 'Attachments are copied across thread boundaries, both ways.',
    waitsFor: FAMILY,
  },
  {
    id: 'runtime 9',
    level: 'MUST',
    text: 'The queue is durable and first in, first out: injected before the next model call, or starting an idle thread.',
  },
  {
    id: 'runtime 10',
    level: 'MUST',
    text: 'terminate sets a time, aborts work in flight, and makes the thread refuse everything after.',
  },
  {
    id: 'runtime 10a',
    level: 'MUST',
    text: "A child's termination reaches its parent's registry.",
    waitsFor: FAMILY,
  },
  { id: 'runtime 11', level: 'MUST', text: 'One flow on a thread; threads may run beside one another.' },
  {
    id: 'runtime 12',
    level: 'SHOULD',
    text: 'Model calls, tool calls and results, stops and terminations leave durable markers.',
  },
  { id: 'runtime 12a', level: 'SHOULD', text: 'So do events of subagents.', waitsFor: FAMILY },
  ...CODE_EXECUTION,
  ...STATE_STORAGE,
];
