/** The families' part of the port (port/family.ts), bound to one database. */
import type { FamilyStore } from '../../port/family.ts';
import { binder } from '../base/bind.ts';
import type { CommandContext } from '../base/context.ts';
import { releaseCall } from './child.ts';
import { createChild } from './child-create.ts';
import { setChildStatus, tellChild, tellParent } from './child-message.ts';
import { listDueReports } from './child-report.ts';
import { deliverReport } from './deliver-report.ts';
import {
  getChild,
  hasResumable,
  listChildren,
  listDescendants,
  listForgotten,
  listUnstarted,
  readCallOfChild,
  readFamily,
} from './family-tree.ts';
import { fulfilRequest, getRequest, keepRequest, listRequests } from './variable-request.ts';

export function bindFamily(context: CommandContext): FamilyStore {
  const bound = binder(context);
  return {
    createChild: bound(createChild),
    tellChild: bound(tellChild),
    readCallOfChild: bound(readCallOfChild),
    releaseCall: bound(releaseCall),
    listChildren: bound(listChildren),
    hasResumable: bound(hasResumable),
    getChild: bound(getChild),
    listUnstarted: bound(listUnstarted),
    listDescendants: bound(listDescendants),
    listForgotten: bound(listForgotten),
    readFamily: bound(readFamily),
    tellParent: bound(tellParent),
    setChildStatus: bound(setChildStatus),
    listDueReports: bound(listDueReports),
    deliverReport: bound(deliverReport),
    keepRequest: bound(keepRequest),
    getRequest: bound(getRequest),
    listRequests: bound(listRequests),
    fulfilRequest: bound(fulfilRequest),
  };
}
