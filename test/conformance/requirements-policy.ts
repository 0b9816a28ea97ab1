/** What the Protolink runtime page asks of policy and actions; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const POLICY: readonly Requirement[] = [
  {
    id: 'PL-05',
    level: 'MUST',
    text: 'Of a set the most specific rule holds, over sets and capabilities the strongest; the decision names effect, matches and sources.',
  },
  {
    id: 'PL-06',
    level: 'MUST',
    text: 'A denied call is not begun, by whatever way it comes: no effect, and an error that whoever called reads.',
  },
  {
    id: 'PL-07',
    level: 'MUST',
    text: 'Where an approval is needed and nobody can be asked, nothing of the call is done, and it says so.',
  },
];
