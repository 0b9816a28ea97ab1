/** The families' part of the port (family-port.ts), bound to one database. */
import type { FamilyStore } from '../../port/family.ts';
import { type CommandContext, inThread } from '../base/context.ts';
import { releaseCalls } from './child.ts';
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
  return {
    createChild: (command) => createChild(context, command),
    tellChild: (command) => tellChild(context, command),
    readCallOfChild: (parentId, call) => readCallOfChild(context, parentId, call),
    releaseCall: (parentId, call) => inThread(context, parentId, (parent) => releaseCalls(parent, call)),
    listChildren: (parentId) => listChildren(context, parentId),
    hasResumable: (parentId) => hasResumable(context, parentId),
    getChild: (childId) => getChild(context, childId),
    listUnstarted: (parentId, limit) => listUnstarted(context, parentId, limit),
    listDescendants: (threadId) => listDescendants(context, threadId),
    listForgotten: (threadId) => listForgotten(context, threadId),
    readFamily: (threadId) => readFamily(context, threadId),
    tellParent: (childId, message) => tellParent(context, childId, message),
    setChildStatus: (childId, status) => setChildStatus(context, childId, status),
    listDueReports: (childId) => listDueReports(context, childId),
    deliverReport: (childId, reportId) => deliverReport(context, childId, reportId),
    keepRequest: (command) => keepRequest(context, command),
    getRequest: (requestId) => getRequest(context, requestId),
    listRequests: (parentId) => listRequests(context, parentId),
    fulfilRequest: (command) => fulfilRequest(context, command),
  };
}
