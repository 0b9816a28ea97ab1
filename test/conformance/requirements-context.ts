/** What the Protolink runtime page requires of the context of a run; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const RUN_CONTEXT: readonly Requirement[] = [
  {
    id: 'PL-01',
    level: 'MUST',
    text: 'A context with all fields is stored as given, read back unchanged, and included in the metadata of its message.',
  },
  {
    id: 'PL-02',
    level: 'MUST',
    text: 'Metadata from before contexts existed is read as a context, including its older names.',
  },
  {
    id: 'PL-03',
    level: 'MUST',
    text: 'A child has its own run, knows its parent run, and inherits session, trace, workspace, permissions, budget and metadata, with the chain of agents.',
  },
  {
    id: 'PL-12',
    level: 'MUST',
    text: 'An execution that is canceled during a slow tool ends once, as canceled, with its reason in record, context and event; no error is reported and nothing is committed.',
  },
  {
    id: 'PL-13',
    level: 'MUST',
    text: 'The first of two cancel requests counts; an unknown execution is not found, and an ended one is not cancelable.',
  },
  {
    id: 'PL-14',
    level: 'MUST',
    text: 'An execution that is canceled while it waits for approval ends as canceled; a later approval starts nothing.',
  },
  {
    id: 'PL-15',
    level: 'MUST',
    text: 'Work with a canceled context calls no model and no tool; its execution ends once, as canceled.',
  },
  {
    id: 'PL-16',
    level: 'MUST',
    text: 'If the worker is lost during a cancellation, the execution still ends as canceled, with its reason.',
  },
];
