/** What AgenticX's runtime page asks of histories, and of the calls in an answer; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const HYGIENE: readonly Requirement[] = [
  { id: 'AX-10', level: 'MUST', text: 'A result whose call is not there is not sent.' },
  {
    id: 'AX-11',
    level: 'MUST',
    text: 'A call without a result does not break a history, and the text beside it is kept.',
  },
  { id: 'AX-12', level: 'MUST', text: 'Of a batch that lacks an answer the others are kept.' },
  { id: 'AX-13', level: 'MUST', text: 'Nothing that is said in between separates a call from its result.' },
  {
    id: 'AX-14',
    level: 'MUST',
    text: 'Sanitising what was sanitised changes nothing, whatever the history.',
  },
  { id: 'AX-15', level: 'MUST', text: 'A key that the contract does not know never reaches a provider.' },
];
