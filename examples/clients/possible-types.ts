// Members of unions and interfaces, for Apollo Client's cache. Written by `npm run schema:print`.
export const possibleTypes: Record<string, string[]> = {
  BulkLookupResult: [
    'BulkLookup',
    'InvalidInput',
    'Refused',
  ],
  CancelBulkLookupResult: [
    'BulkLookup',
    'NotFound',
  ],
  CancelResult: [
    'Cancelled',
    'NotFound',
    'NothingToCancel',
    'Refused',
  ],
  Node: [
    'Batch',
    'BulkLookup',
    'Cluster',
    'Feature',
    'Protein',
    'Task',
    'UniprotEntry',
  ],
  Problem: [
    'IdempotencyConflict',
    'InvalidInput',
    'NotFound',
    'NothingToCancel',
    'OutcomeUnknown',
    'Refused',
  ],
  SubmitFoldResult: [
    'FoldSubmitted',
    'IdempotencyConflict',
    'InvalidInput',
    'OutcomeUnknown',
    'Refused',
  ],
};
