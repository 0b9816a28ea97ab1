/** Runtime §7 and §8, and what §10 and §12 require of subagents: children, and traffic with their parents. */
import type { Requirement } from './requirement.ts';

export const FAMILY: readonly Requirement[] = [
  {
    id: 'runtime 7.1',
    level: 'MUST',
    text: 'Children are threads with parent linkage, listed in a registry and reachable from code of parent and child.',
  },
  {
    id: 'runtime 7.2',
    level: 'MUST',
    text: 'subagent_create and subagent_message; exceeding maxInstances is an error that says what to do; explicit communication reports nothing by itself.',
  },
  {
    id: 'runtime 7.3',
    level: 'SHOULD',
    text: 'optional depends on an environment flag; immediate subagents start before the first model step, in children too.',
  },
  {
    id: 'runtime 7.4',
    level: 'MUST',
    text: 'First message, files and name come from arguments; a bootstrap model sees two variables, and no other that an object-form child has from its parent, whenever it was set, is in a prompt of the child or of those below it.',
  },
  {
    id: 'runtime 7.5',
    level: 'SHOULD',
    text: 'Missing scoped variables are requested; providing them starts the child at once, exactly once.',
  },
  {
    id: 'runtime 8',
    level: 'MUST',
    text: 'Messages and reports cross thread boundaries once, whatever is lost, and their attachments are copied, both ways.',
  },
  {
    id: 'runtime 8.1',
    level: 'MUST',
    text: "Files of a parent's message to a child are copied to the child.",
  },
  {
    id: 'runtime 8.2',
    level: 'MUST',
    text: "A child's result becomes a message in the parent, with reference, summary and files, or the result of the waiting call.",
  },
  { id: 'runtime 8.3', level: 'SHOULD', text: 'A status updates the registry and ends nothing.' },
  { id: 'runtime 10a', level: 'MUST', text: "A child's termination updates its parent's registry." },
  { id: 'runtime 12a', level: 'SHOULD', text: 'Subagents leave durable events too.' },
];
