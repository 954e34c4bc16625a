-- How a date may be said, in the symbols of pgrecall.date_symbol, in the order in which to try. `fields` are
-- year, month or quarter, day and last day of a calendar date, or which, number and unit of a relative one.
create or replace function pgrecall.date_patterns()
returns table (n int, shape text, alone boolean, licence text, pattern text, fields text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
values
    (1, 'day', true, '', '(\d{4})-(\d\d)-(\d\d)', '\2,\3,\4'),
    (2, 'day', true, '', 'on(\d+)\.(\d+)\.(\d+)', '\4,\3,\2'),
    (3, 'days', true, '', '(\d{1,2})-(\d{1,2}) (?:of )?[mar](\d+)(?: (?:of )?(\d{4})(?: year)?)?', '\5,\4,\2,\3'),
    (4, 'days', false, 'between|from|since',
        '(\d{1,2})(?:th)? (?:and|to|until|upto) (?:the )?(\d{1,2})(?:th)? (?:of )?[mar](\d+)(?: (?:of )?(\d{4})(?: year)?)?',
        '\5,\4,\2,\3'),
    (5, 'days', true, '', '[ma](\d+) (\d{1,2})-(\d{1,2})(?: (\d{4}))?', '\5,\2,\3,\4'),
    (6, 'day', true, '', '(\d{1,2})(?:th)? (?:of )?[mar](\d+) (?:of )?(\d{4})(?: year)?', '\4,\3,\2'),
    (7, 'day', true, '', '(\d{1,2})(?:th)? (?:of )?[mr](\d+)', ',\3,\2'),
    (8, 'day', true, '', '(\d{1,2})th (?:of )?a(\d+)', ',\3,\2'),
    (9, 'day', true, '', '[ma](\d+) (?:the )?(\d{1,2})(?:th)? (\d{4})', '\4,\2,\3'),
    (10, 'day', true, '', 'm(\d+) (?:the )?(\d{1,2})(?:th)?', ',\2,\3'),
    (11, 'day', true, '', 'a(\d+) (?:the )?(\d{1,2})th', ',\2,\3'),
    (12, 'day', false, 'on|since|until|upto|before|after|between|from', '(\d{1,2}) a(\d+)', ',\3,\2'),
    (13, 'day', false, 'on|since|until|upto|before|after|between|from', 'a(\d+) (\d{1,2})', ',\2,\3'),
    (14, 'month', true, '', '(?:edge (?:of )?)?[mar](\d+) (?:of )?(\d{4})(?: year)?', '\3,\2'),
    (15, 'month', false, 'in|since|until|upto|before|after|between|from', 'ym(\d{4})-(\d\d)', '\2,\3'),
    (16, 'month', false, 'in|since|until|upto|before|after|between|from', '(?:edge (?:of )?)?[ma](\d+)', ',\2'),
    (17, 'quarter', true, '', 'q(\d) (?:of )?(\d{4})(?: year)?', '\3,\2'),
    (18, 'quarter', true, '', '(?:yq)?(\d{4}) ?q(\d)', '\2,\3'),
    (19, 'quarter', true, '', 'o?(\d)(?:th)? quarter (?:of )?(\d{4})(?: year)?', '\3,\2'),
    (20, 'quarter', false, 'in|since|until|upto|before|after|between|from', 'q(\d)', ',\2'),
    (21, 'quarter', false, 'in|since|until|upto|before|after|between|from', 'o?(\d)(?:th)? quarter', ',\2'),
    (22, 'year', true, '', '(?:edge (?:of )?)?(\d{4}) year', '\2'),
    (23, 'year', false, 'in|since|until|upto|before|after|between|from', '(?:edge (?:of )?)?(\d{4})', '\2'),
    (24, 'said day', true, '', 'd([-+]\d)(?: (?:part|day))?', 'this,\2'),
    (25, 'said day', true, '', 'day (?:before|after) d([-+]1)', 'twice,\2'),
    (26, 'said day', true, '', '(last|this) part', '\2,0'),
    (27, 'rolling', true, '', '(last|past|next) (\d{1,3}) (hour|day|week|month|quarter|year)', '\2,\3,\4'),
    (28, 'unit', true, '', '(last|past|this|next) (hour|day|week|month|quarter|year)', '\2,1,\3'),
    (29, 'ago', true, '', '(?:(\d{1,3}) |an )?(hour|day|week|month|quarter|year) (?:the )?ago', ',\2,\3'),
    (30, 'named month', true, '', '(last|this|next) [ma](\d+)', '\2,\3'),
    (31, 'weekday', true, '', '(last|this|next) [wv](\d)(?: part)?', '\2,\3'),
    (32, 'weekday', false, 'in|on|since|until|upto|before|after|between|from', '[wv](\d)(?: part)?', ',\2')
$$;
