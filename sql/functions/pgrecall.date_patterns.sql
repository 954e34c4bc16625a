-- How a date may be said, in the symbols of pgrecall.date_symbol, in the order in which to try. `starts`
-- holds its first letters, because Postgres keeps only 32 compiled patterns a session. `fields` are
-- year, month or quarter, day and last day of a calendar date, or which, number and unit of a relative one.
create or replace function pgrecall.date_patterns()
returns table (n int, starts text, shape text, alone boolean, licence text[], pattern text, fields text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
values
    (1, '12', 'day', true, '{}'::text[], '(\d{4})-(\d\d)-(\d\d)', '\2,\3,\4'),
    (2, '0123456789', 'days', true, '{}', '(\d{1,2})-(\d{1,2}) (?:of )?[mar](\d+)(?: (?:of )?(\d{4})(?: year1?)?)?', '\5,\4,\2,\3'),
    (3, '0123456789', 'days', false, '{between,from,since}',
        '(\d{1,2})(?:th)? (?:and|to|until|upto) (?:the )?(\d{1,2})(?:th)? (?:of )?[mar](\d+)(?: (?:of )?(\d{4})(?: year1?)?)?',
        '\5,\4,\2,\3'),
    (4, 'ma', 'days', true, '{}', '[ma](\d+) (\d{1,2})-(\d{1,2})(?: (\d{4}))?', '\5,\2,\3,\4'),
    (5, '0123456789', 'day', true, '{}', '(\d{1,2})(?:th)? (?:of )?[mar](\d+) (?:of )?(\d{4})(?: year1?)?', '\4,\3,\2'),
    (6, '0123456789', 'day', true, '{}', '(\d{1,2})(?:th)? (?:of )?[mr](\d+)', ',\3,\2'),
    (7, '0123456789', 'day', true, '{}', '(\d{1,2})th (?:of )?a(\d+)', ',\3,\2'),
    (8, 'ma', 'day', true, '{}', '[ma](\d+) (?:the )?(\d{1,2})(?:th)? (\d{4})', '\4,\2,\3'),
    (9, 'm', 'day', true, '{}', 'm(\d+) (?:the )?(\d{1,2})(?:th)?', ',\2,\3'),
    (10, 'a', 'day', true, '{}', 'a(\d+) (?:the )?(\d{1,2})th', ',\2,\3'),
    (11, '0123456789', 'day', false, '{on,since,until,upto,before,after,between,from}', '(\d{1,2}) a(\d+)', ',\3,\2'),
    (12, 'a', 'day', false, '{on,since,until,upto,before,after,between,from}', 'a(\d+) (\d{1,2})', ',\2,\3'),
    (13, 'emar', 'month', true, '{}', '(?:edge (?:of )?)?[mar](\d+) (?:of )?(\d{4})(?: year1?)?', '\3,\2'),
    (14, 'y', 'month', false, '{in,since,until,upto,before,after,between,from}', 'ym(\d{4})-(\d\d)', '\2,\3'),
    (15, 'ema', 'month', false, '{in,since,until,upto,before,after,between,from}', '(?:edge (?:of )?)?[ma](\d+)', ',\2'),
    (16, 'q', 'quarter', true, '{}', 'q(\d) (?:of )?(\d{4})(?: year1?)?', '\3,\2'),
    (17, 'y12', 'quarter', true, '{}', '(?:yq)?(\d{4}) ?q(\d)', '\2,\3'),
    (18, 'o1234', 'quarter', true, '{}', 'o?(\d)(?:th)? quarter1? (?:of )?(\d{4})(?: year1?)?', '\3,\2'),
    (19, 'q', 'quarter', false, '{in,since,until,upto,before,after,between,from}', 'q(\d)', ',\2'),
    (20, 'o1234', 'quarter', false, '{in,since,until,upto,before,after,between,from}', 'o?(\d)(?:th)? quarter1?', ',\2'),
    (21, 'e12', 'year', true, '{}', '(?:edge (?:of )?)?(\d{4}) year1?', '\2'),
    (22, 'e12', 'year', false, '{in,since,until,upto,before,after,between,from}', '(?:edge (?:of )?)?(\d{4})', '\2'),
    (23, 'd', 'said day', true, '{}', 'd([-+]\d)(?: (?:part|day1?))?', 'this,\2'),
    (24, 'd', 'said day', true, '{}', 'day (?:before|after) d([-+]1)', 'twice,\2'),
    (25, 'lt', 'said day', true, '{}', '(last|this) part', '\2,0'),
    (26, '0123456789', 'day of month', true, '{}', '(\d{1,2})(?:th)? of (last|this|next) month1?', '\3,\2'),
    (27, 'wv', 'day of week', true, '{}', '[wv](\d) (?:of |na )?(last|this|next) week1?', '\3,\2'),
    (28, 'lnp', 'rolling', true, '{}', '(last|past|next) (\d{1,3}) (hour|day|week|month|quarter|year)1?', '\2,\3,\4'),
    (29, 'lnpt', 'unit', true, '{}', '(last|past|this|next) (hour|day|week|month|quarter|year)1?', '\2,1,\3'),
    (30, '0123456789ahdwmqy', 'ago', true, '{}', '(?:(\d{1,3}) |an |(?=[a-z]+1))(hour|day|week|month|quarter|year)1? (?:the )?ago', ',\2,\3'),
    (31, 'lnt', 'named month', true, '{}', '(last|this|next) [ma](\d+)', '\2,\3'),
    (32, 'lnt', 'weekday', true, '{}', '(last|this|next) [wv](\d)(?: part)?', '\2,\3'),
    (33, 'wv', 'weekday', false, '{in,on,since,until,upto,before,after,between,from}', '[wv](\d)(?: part)?', ',\2')
$$;
