/** What the Protolink runtime page asks of the context of a run; ids are those of its acceptance cases. */
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
];
