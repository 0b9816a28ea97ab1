/** Runtime §7 and §8, and what §10 and §12 require of subagents: children, and traffic with their parents. */
import type { Requirement } from './requirement.ts';

export const FAMILY: readonly Requirement[] = [
  {
    id: 'runtime 7.1',
    level: 'MUST',
    text: 'Children are threads with parent linkage, in a registry, found by code of parent and child.',
  },
  {
    id: 'runtime 7.2',
    level: 'MUST',
    text: 'subagent_create and subagent_message; maxInstances as an error that says what to do; explicit silence.',
  },
  {
    id: 'runtime 7.3',
    level: 'SHOULD',
    text: 'optional is a flag of the environment; immediate runs before the first model step, in children too.',
  },
  {
    id: 'runtime 7.4',
    level: 'MUST',
    text: 'First message, files and name come from arguments; a bootstrap sees two hints, and scoped values nobody.',
  },
  {
    id: 'runtime 7.5',
    level: 'SHOULD',
    text: 'Missing scoped variables are asked for by a request; providing them boots the child at once, and once.',
  },
  { id: 'runtime 8', level: 'MUST', text: 'Attachments are copied across thread boundaries, both ways.' },
  {
    id: 'runtime 8.1',
    level: 'MUST',
    text: "A parent's messages to a child come with files, copied to the child.",
  },
  {
    id: 'runtime 8.2',
    level: 'MUST',
    text: "A child's result becomes a message of the parent, with reference, summary and files, or the result of a call.",
  },
  { id: 'runtime 8.3', level: 'SHOULD', text: 'A status changes the registry and ends nothing.' },
  { id: 'runtime 10a', level: 'MUST', text: "A child's termination reaches its parent's registry." },
  { id: 'runtime 12a', level: 'SHOULD', text: 'So do events of subagents.' },
];
