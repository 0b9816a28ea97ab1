/** What the Protolink runtime page requires of the context of a run; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const RUN_CONTEXT: readonly Requirement[] = [
  {
    id: 'PL-01',
    level: 'MUST',
    text: 'A context with every field is kept as it was given, read back the same, and told in the metadata of its message.',
  },
  {
    id: 'PL-02',
    level: 'MUST',
    text: 'Metadata of the time before contexts is read as one, by its older names too.',
  },
  {
    id: 'PL-03',
    level: 'MUST',
    text: 'A child has a run of its own, knows the run that asked it, and keeps session, trace, workspace, permissions, budget and metadata, with the chain of agents.',
  },
  {
    id: 'PL-12',
    level: 'MUST',
    text: 'Cancelled while a slow tool runs, an execution ends once, as canceled, with its reason in record, context and event; no error is told, and nothing is committed.',
  },
  {
    id: 'PL-13',
    level: 'MUST',
    text: 'Of two requests the first one counts; an unknown execution is not found, and one that has ended is not cancelable.',
  },
  {
    id: 'PL-14',
    level: 'MUST',
    text: 'Cancelled while it waits for an approval, an execution ends as canceled; an approval that comes later begins nothing.',
  },
  {
    id: 'PL-15',
    level: 'MUST',
    text: 'Work whose context is canceled asks no model and runs no tool; its execution ends once, as canceled.',
  },
  {
    id: 'PL-16',
    level: 'MUST',
    text: 'Where the worker is lost while an execution is being cancelled, it ends as canceled, with its reason.',
  },
];
