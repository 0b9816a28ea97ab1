/** What Tangle's page requires of executions, turns, backends, catalogue and run rows; ids: its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const CHAT_TURNS: readonly Requirement[] = [
  {
    id: 'TG-12',
    level: 'MUST',
    text: "A chat turn is lines of JSON: the envelope first and last, the agent's events in between.",
  },
  {
    id: 'TG-13',
    level: 'MUST',
    text: 'If the producer of a turn fails, the turn has what was produced, then the error, and ends.',
  },
  {
    id: 'TG-14',
    level: 'MUST',
    text: 'Messages are stored before the turn completes, once; a turn that cannot be stored fails.',
  },
  { id: 'TG-15', level: 'MUST', text: 'Stored text may be transformed; streamed text is not.' },
  {
    id: 'TG-16',
    level: 'MUST',
    text: 'A client that reconnects with its last id gets what follows it, and nothing twice.',
  },
  {
    id: 'TG-17',
    level: 'MUST',
    text: 'The same execution id attaches while the turn runs and replays it afterwards; the model is never called again.',
  },
  { id: 'TG-18', level: 'MUST', text: 'Different input under the same execution id is a conflict.' },
  { id: 'TG-19', level: 'MUST', text: 'Parts that contain the separator give different execution ids.' },
  {
    id: 'TG-20',
    level: 'MUST',
    text: 'Whatever is killed, at any time: a turn runs once, is stored once and is streamed completely; an act of a task is done at most once, with one end and the ledger of one run.',
  },
  {
    id: 'TG-21',
    level: 'MUST',
    text: 'A backend that refuses permanently is called once, and its status and body are reported.',
  },
  {
    id: 'TG-22',
    level: 'MUST',
    text: 'A backend that is temporarily down is retried as configured; a caller that leaves is not waited for.',
  },
  { id: 'TG-23', level: 'MUST', text: 'A long refusal is reported by its beginning.' },
  {
    id: 'TG-24',
    level: 'MUST',
    text: 'Fragmented, parallel, malformed or unfinished calls are each reported once and not executed.',
  },
  {
    id: 'TG-25',
    level: 'MUST',
    text: 'Configured fallback models are tried in order after temporary failures; each hop and every failure is reported.',
  },
  { id: 'TG-26', level: 'MUST', text: 'Without configured fallbacks, no other model is called.' },
  {
    id: 'TG-27',
    level: 'MUST',
    text: 'A blank, malformed or allow-listed model is judged without the catalogue; any other by the catalogue, and refused if it cannot be read.',
  },
  { id: 'TG-28', level: 'MUST', text: 'The base URL of a router is normalised.' },
  {
    id: 'TG-29',
    level: 'MUST',
    text: 'A ledger counts only model calls, each once, and ignores values that are not numbers.',
  },
  { id: 'TG-30', level: 'MUST', text: 'A run ends once, and is persisted after its end.' },
  {
    id: 'TG-32',
    level: 'MUST',
    text: 'Telemetry contains no input, argument, result, address, body, text or title unless configured.',
  },
];
