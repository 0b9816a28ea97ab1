/** Binds the commands for families to one database. */
import { binder } from '../commands/base/bind.ts';
import type { CommandContext } from '../commands/base/context.ts';
import { releaseCall } from '../commands/family/child.ts';
import { createChild } from '../commands/family/child-create.ts';
import { judgeChild } from '../commands/family/child-limit.ts';
import { sendToChild, sendToParent, setChildStatus } from '../commands/family/child-message.ts';
import { listDueReports } from '../commands/family/child-report.ts';
import { deliverReport } from '../commands/family/deliver-report.ts';
import {
  getChild,
  hasResumable,
  listChildren,
  listDescendants,
  listForgotten,
  listUnstarted,
  readChildCall,
  readFamily,
} from '../commands/family/family-tree.ts';
import { readLastStep } from '../commands/family/last-step.ts';
import { readTeamStatus } from '../commands/family/team-status.ts';
import { fulfilRequest, getRequest, keepRequest, listRequests } from '../commands/family/variable-request.ts';
import type { ThreadStore } from '../port/thread-store.ts';

type Family = Pick<ThreadStore, 'family' | 'children' | 'reports' | 'variableRequests'>;

export function bindFamily(context: CommandContext): Family {
  const bound = binder(context);
  return {
    family: {
      read: bound(readFamily),
      listDescendants: bound(listDescendants),
      listForgotten: bound(listForgotten),
    },
    children: {
      create: bound(createChild),
      judge: bound(judgeChild),
      readTeam: bound(readTeamStatus),
      tell: bound(sendToChild),
      tellParent: bound(sendToParent),
      readCall: bound(readChildCall),
      releaseCall: bound(releaseCall),
      list: bound(listChildren),
      get: bound(getChild),
      hasResumable: bound(hasResumable),
      listUnstarted: bound(listUnstarted),
      setStatus: bound(setChildStatus),
    },
    reports: {
      readLastStep: bound(readLastStep),
      listDue: bound(listDueReports),
      deliver: bound(deliverReport),
    },
    variableRequests: {
      keep: bound(keepRequest),
      get: bound(getRequest),
      list: bound(listRequests),
      fulfil: bound(fulfilRequest),
    },
  };
}
