/** What Tangle's page requires of executions, turns, backends, catalogue and run rows; ids: its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const CHAT_TURNS: readonly Requirement[] = [
  {
    id: 'TG-12',
    level: 'MUST',
    text: 'A chat turn is lines of JSON: the envelope first and last, what the agent does between.',
  },
  {
    id: 'TG-13',
    level: 'MUST',
    text: 'A turn whose producer fails tells what there was, then the error, and ends.',
  },
  {
    id: 'TG-14',
    level: 'MUST',
    text: 'What was said is kept before its turn is complete, once; a turn that cannot be kept has failed.',
  },
  { id: 'TG-15', level: 'MUST', text: 'What is kept may be changed, and what is told is not.' },
  {
    id: 'TG-16',
    level: 'MUST',
    text: 'A client that comes back with its last id is told what came behind it, and nothing twice.',
  },
  {
    id: 'TG-17',
    level: 'MUST',
    text: 'The same execution id attaches while it runs and replays after; the model is never asked again.',
  },
  { id: 'TG-18', level: 'MUST', text: 'Other words under the same execution id are a conflict.' },
  { id: 'TG-19', level: 'MUST', text: 'Parts that hold the separator make other execution ids.' },
  {
    id: 'TG-20',
    level: 'MUST',
    text: 'Whoever is killed, whenever: a turn runs once, is kept once, and is told whole; an act of a task is done at most once, and there is one end and the ledger of one run.',
  },
  {
    id: 'TG-21',
    level: 'MUST',
    text: 'A backend that refuses for good is asked once, and its status and body are told.',
  },
  {
    id: 'TG-22',
    level: 'MUST',
    text: 'A backend that is down for a while is tried as often as was said; who leaves is not waited for.',
  },
  { id: 'TG-23', level: 'MUST', text: 'Of a long refusal the beginning is told.' },
  {
    id: 'TG-24',
    level: 'MUST',
    text: 'Calls in pieces, in parallel, malformed or unended are told once each, and not executed.',
  },
  {
    id: 'TG-25',
    level: 'MUST',
    text: 'Models that were named are asked in their order where the one before fails for a while; each hop is told, and every failure.',
  },
  { id: 'TG-26', level: 'MUST', text: 'Where no other model was named, none is asked.' },
  {
    id: 'TG-27',
    level: 'MUST',
    text: 'A model that is blank, malformed or allowed is judged without the catalogue; any other by it, and refused where it cannot be read.',
  },
  { id: 'TG-28', level: 'MUST', text: 'The base address of a router is normalised.' },
  {
    id: 'TG-29',
    level: 'MUST',
    text: 'A ledger counts calls of models alone, each once, and no numbers that are none.',
  },
  { id: 'TG-30', level: 'MUST', text: 'A run ends once, and is persisted behind its end.' },
  {
    id: 'TG-32',
    level: 'MUST',
    text: 'Telemetry tells no input, argument, result, address, body, text or title unless it is asked to.',
  },
];
